import type { SessionEvent } from '@carrel/harness';
import type { ToolContent } from '@carrel/tools-registry';
import pc from 'picocolors';
import { METHOD, type Receipt } from './receipt.ts';

/** Lines of a program's result that are shown. */
const RESULT_LINES = 12;

/** Shows a conversation while it goes on. Colours and the progress line only on a terminal. */
export class Show {
  readonly #out: NodeJS.WriteStream;
  readonly #progress: NodeJS.WriteStream;
  readonly #colors: ReturnType<typeof pc.createColors>;
  readonly #arguments = new Map<string, string>();
  #calls = 0;

  /**
   * @param out - for what is shown
   * @param progress - for the line that says what goes on
   */
  constructor(out: NodeJS.WriteStream, progress: NodeJS.WriteStream) {
    this.#out = out;
    this.#progress = progress;
    // `isTTY` is absent, not false, on what is no terminal; and CI counts as one that has colours.
    this.#colors = pc.createColors(out.isTTY === true && pc.isColorSupported);
  }

  line(text = ''): void {
    this.progress('');
    this.#out.write(`${text}\n`);
  }

  /** Replaces the progress line. */
  progress(text: string): void {
    if (this.#progress.isTTY) this.#progress.write(`\r\u001B[2K${text.slice(0, 100)}`);
  }

  /** Shows what an event of the session says to a person. */
  event({ type, data }: SessionEvent): void {
    const { bold, cyan, dim } = this.#colors;
    switch (type) {
      case 'step/start':
        this.progress(`step ${data.step}: the model is asked…`);
        return;
      case 'assistant/message':
        for (const part of data.content) {
          if (part.type === 'text') this.line(part.text);
          if (part.type === 'tool-call') this.#program(part.arguments);
        }
        return;
      case 'tool/code-dispatch':
        if (data.phase === 'start') {
          this.#arguments.set(data.callId, JSON.stringify(data.arguments));
          this.progress(`call ${this.#calls + 1}: ${data.toolName}…`);
        } else {
          this.#calls += 1;
          const args = this.#arguments.get(data.callId) ?? '';
          const shown = args.length > 70 ? `${args.slice(0, 69)}…` : args;
          const mark = data.outcome === 'done' ? '' : ` ${data.outcome}`;
          this.line(
            `  ${cyan(data.toolName)} ${dim(shown)} ${data.durationMs.toFixed(1)} ms${mark}`,
          );
        }
        return;
      case 'tool/result':
        this.line(
          bold(`${data.isError ? 'Failed' : 'Result'} after ${Math.round(data.durationMs)} ms`),
        );
        this.#indented(textOf(data.content), RESULT_LINES);
        return;
      default:
        return;
    }
  }

  receipt({ toolCalls, code, native }: Receipt): void {
    const { bold, dim } = this.#colors;
    this.line(bold('Receipt'));
    this.line(`${toolCalls} tool calls in ${code.requests} model requests`);
    this.line(dim('mode      model requests   tokens sent   sent before (cacheable)       new'));
    this.line(costRow('code', code));
    this.line(costRow('native', native));
    this.line(`native sends ${(native.sentTokens / code.sentTokens).toFixed(1)} times the tokens`);
    this.line(dim(METHOD));
  }

  #program(args: unknown): void {
    this.#calls = 0;
    const { code } = args as { readonly code?: unknown };
    this.line(this.#colors.bold('\nThe model wrote a program'));
    this.#indented(
      typeof code === 'string' ? code : JSON.stringify(args),
      Number.POSITIVE_INFINITY,
    );
    this.line(this.#colors.bold('Its calls'));
  }

  #indented(text: string, most: number): void {
    const lines = text.split('\n');
    for (const line of lines.slice(0, most)) this.line(this.#colors.dim(`  ${line}`));
    if (lines.length > most) this.line(this.#colors.dim(`  … ${lines.length - most} more lines`));
  }
}

function textOf(content: readonly ToolContent[]): string {
  return content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n');
}

function costRow(name: string, { requests, sentTokens, repeatedTokens }: Receipt['code']): string {
  return [
    name.padEnd(8),
    String(requests).padStart(14),
    sentTokens.toLocaleString('en-US').padStart(14),
    repeatedTokens.toLocaleString('en-US').padStart(22),
    (sentTokens - repeatedTokens).toLocaleString('en-US').padStart(10),
  ].join('');
}
