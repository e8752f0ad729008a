import { byteLength } from './byte-length.ts';
import { formatArguments } from './format-value.ts';
import { defineGlobal, stringify } from './intrinsics.ts';

const METHODS = ['debug', 'log', 'info', 'warn', 'error'] as const;

/** Gives the program a `console` whose entries go to `write` as JSON text, each at once. */
export function installConsole(write: (entryText: string, bytes: number) => void): void {
  const console: Record<string, (...args: unknown[]) => void> = {};
  for (const level of METHODS) {
    console[level] = (...args) => {
      let text: string;
      try {
        text = formatArguments(args).toWellFormed();
      } catch {
        text = '[unreadable]'; // The program broke a built-in that the formatter relies on.
      }
      const entry = stringify({ __proto__: null, level, text });
      write(entry, byteLength(text) + 1);
    };
  }
  defineGlobal('console', console);
}
