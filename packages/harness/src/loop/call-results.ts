import type { CodeDispatchEvent, CodeRunDetails, ToolResult } from '@carrel/tools-registry';
import { HarnessError, messageOf } from '../errors.ts';
import type { SessionEventMap } from '../session/session-events.ts';
import type { SessionLog } from '../session/session-log.ts';
import type { RequestedCall } from './requested-call.ts';

type LoggedResult = SessionEventMap['tool/result'];

/** What came of the calls of one answer, on its way into the log. */
export class CallResults {
  readonly #log: SessionLog;
  readonly #programTool: string | undefined;
  /** The calls without a result in the log, in order. */
  readonly #open: RequestedCall[];
  /** What goes into the conversation after the last result. */
  readonly #context: SessionEventMap['context/message'][] = [];
  #lost: unknown;

  /** @param programTool - the tool whose results carry a journal, if there is one */
  constructor(log: SessionLog, programTool: string | undefined, calls: readonly RequestedCall[]) {
    this.#log = log;
    this.#programTool = programTool;
    this.#open = [...calls];
  }

  /**
   * Carries out the next calls in order, and logs their results.
   *
   * @param run - the first of the calls that are open
   * @param execute - answers with one result for each; not asked about a call that cannot run
   */
  async commit(
    run: readonly RequestedCall[],
    execute: () => Promise<readonly ToolResult[]>,
  ): Promise<void> {
    const startedAt = performance.now();
    const [first] = run;
    if (first?.problem !== undefined) {
      this.#answer(first, failure('INVALID_ARGUMENTS', first.problem), 0);
      return;
    }
    let results: readonly ToolResult[];
    try {
      results = await execute();
    } catch (error) {
      // A registry does not reject; whatever does so instead has not said what became of the calls.
      const result = failure('TOOL_FAILED', `The call failed: ${messageOf(error)}`);
      results = run.map(() => result);
    }
    const durationMs = performance.now() - startedAt;
    for (const [index, call] of run.entries()) {
      const missing = failure('TOOL_FAILED', 'The call brought no result.');
      this.#answer(call, results[index] ?? missing, durationMs);
    }
  }

  /**
   * Logs a call of a program, as it starts and as it settles.
   *
   * @throws HarnessError `event-not-json` for a start, which keeps the call from its body
   */
  addDispatch(event: CodeDispatchEvent): void {
    try {
      this.#log.append('tool/code-dispatch', event);
    } catch (error) {
      if (event.phase === 'start') throw error;
      // The call took effect: the program goes on, and the turn ends afterwards.
      this.#lost ??= error;
    }
  }

  /** Answers what is open with results that say so, and appends what tools had to tell besides. */
  close(): void {
    for (let call = this.#open[0]; call; call = this.#open[0]) {
      const result = failure('TOOL_ABORTED', 'The call was not started: the turn ended before.');
      this.#answer(call, result, 0);
    }
    for (const message of this.#context.splice(0)) this.#log.append('context/message', message);
  }

  /** @throws HarnessError when the log lacks a call of a program */
  throwIfIncomplete(): void {
    if (this.#lost !== undefined) throw this.#lost as Error;
  }

  #answer(call: RequestedCall, result: ToolResult, durationMs: number): void {
    this.#open.shift();
    try {
      this.#log.append('tool/result', this.#logged(call, result, durationMs));
    } catch (error) {
      if (!(error instanceof HarnessError)) throw error;
      const text = `The call ran, but its result cannot be kept: ${error.message}`;
      const substitute = failure('INVALID_OUTPUT', text);
      this.#log.append('tool/result', this.#logged(call, substitute, durationMs));
    }
    for (const text of result.additionalContext ?? []) {
      this.#context.push({ source: call.name, text });
    }
  }

  #logged(call: RequestedCall, result: ToolResult, durationMs: number): LoggedResult {
    const { isError, content, error, details } = result;
    const program = call.name === this.#programTool && details !== undefined;
    return {
      callId: call.id,
      toolName: call.name,
      isError,
      content,
      ...(error === undefined ? {} : { error }),
      ...(program ? { journal: (details as unknown as CodeRunDetails).journal } : {}),
      durationMs,
    };
  }
}

function failure(code: string, message: string): ToolResult {
  return { isError: true, content: [{ type: 'text', text: message }], error: { code, message } };
}
