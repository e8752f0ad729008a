import { RE2JS } from 're2js';

/** A pattern that takes time linear in the text, whatever the text. */
export interface LinearPattern {
  test(text: string): boolean;
}

/**
 * Compiles a JSON Schema `pattern` with a linear-time engine: a backtracking one can be held up for
 * hours by thirty characters that a program chooses.
 *
 * @returns `undefined` for what the engine does not know: lookaround, backreferences, repeats above 1,000
 */
export function compileLinearPattern(source: string): LinearPattern | undefined {
  try {
    const pattern = RE2JS.compile(RE2JS.translateRegExp(source));
    return { test: (text) => pattern.matcher(text).find() };
  } catch {
    return undefined; // Its only errors are about the pattern's syntax.
  }
}
