import type { CodeDispatchEvent, CodeRunDetails, ToolResult } from '@carrel/tools-registry';
import { HarnessError } from '../errors.ts';
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
  /** Results that wait for those of the calls before. */
  readonly #waiting = new Map<
    RequestedCall,
    Pick<LoggedResult, 'durationMs'> & { readonly result: ToolResult }
  >();
  /** What goes into the conversation after the last result. */
  readonly #context: SessionEventMap['context/message'][] = [];

  /** @param programTool - the tool whose results carry a journal, if there is one */
  constructor(log: SessionLog, programTool: string | undefined, calls: readonly RequestedCall[]) {
    this.#log = log;
    this.#programTool = programTool;
    this.#open = [...calls];
  }

  /** Takes the result of one of the calls; it is logged as soon as those before it are. */
  add(call: RequestedCall, result: ToolResult, durationMs: number): void {
    this.#waiting.set(call, { result, durationMs });
    for (let next = this.#open[0]; next; next = this.#open[0]) {
      const came = this.#waiting.get(next);
      if (came === undefined) return;
      this.#answer(next, came.result, came.durationMs);
    }
  }

  /**
   * Logs a call of a program, as it starts and as it settles.
   *
   * @returns for a start, a barrier: its body comes after it, and not at all when it rejects
   * @throws HarnessError `event-not-json`; for a start, this keeps the call from its body
   */
  addDispatch(event: CodeDispatchEvent): Promise<void> | undefined {
    this.#log.append('tool/code-dispatch', event);
    return event.phase === 'start' ? this.#log.flush() : undefined;
  }

  /**
   * Answers what is open, and appends what tools had to tell besides.
   *
   * @param missing - the result of a call that has none
   */
  close(missing: ToolResult): void {
    for (let next = this.#open[0]; next; next = this.#open[0]) {
      const { result, durationMs } = this.#waiting.get(next) ?? { result: missing, durationMs: 0 };
      this.#answer(next, result, durationMs);
    }
    for (const message of this.#context.splice(0)) this.#log.append('context/message', message);
  }

  #answer(call: RequestedCall, result: ToolResult, durationMs: number): void {
    this.#open.shift();
    try {
      this.#log.append('tool/result', this.#logged(call, result, durationMs));
    } catch (error) {
      if (!(error instanceof HarnessError)) throw error;
      const text = `The call ran, but its result cannot be kept: ${error.message}`;
      const substitute = failedResult('INVALID_OUTPUT', text);
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

/** The result of a call that the registry never answered. */
export function failedResult(code: string, message: string): ToolResult {
  return { isError: true, content: [{ type: 'text', text: message }], error: { code, message } };
}
