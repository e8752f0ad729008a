import { messageOf } from '@carrel/code-runtime';
import type {
  CodeBindingFunction,
  CodeBindingNamespace,
  CodeCallContext,
  CodeCallRecord,
  JsonValue,
} from '@carrel/code-runtime';
import { CallNotStartedError, DispatchQueue } from '../execution/dispatch-queue.ts';
import type { ToolOutcome } from '../execution/execute-tool.ts';
import { memberAccess } from '../presentation/escape-text.ts';
import { TOOL_CALL_ERROR, TOOLS_GLOBAL } from '../presentation/render-sdk.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { errorResult, resultOfError } from '../tool-result.ts';
import type { ToolContent, ToolResult } from '../tool-result.ts';
import type { CodeDispatchEvent } from './code-dispatch.ts';

const NOT_STARTED_TEXT = 'The program ended before the call had started.';

/** What the calls of one run need. */
export interface ToolBindingsOptions {
  readonly tools: readonly Tool[];
  /** The id of the call of `run_code`. */
  readonly parentCallId: string;
  /** Cancels the run. */
  readonly signal: AbortSignal;
  /** Takes one call through the pipeline; never rejects. */
  dispatch(call: ToolCall, signal: AbortSignal): Promise<ToolOutcome>;
  /**
   * Told of each call as it starts and as it settles. A start is awaited before the body; one that
   * throws or rejects keeps the call from its body.
   */
  readonly onCodeDispatch: ((event: CodeDispatchEvent) => void | Promise<void>) | undefined;
}

/** One call of the program that has got its turn. */
interface StartedCall {
  readonly call: ToolCall;
  readonly queuedMs: number;
  startedAt: number;
  /** Whether the call was handed on; until then it waits for the listener of its start. */
  dispatched: boolean;
  result: ToolResult | undefined;
}

/** The tools as host functions of one run, and the account of what its calls did. */
export class ToolBindings {
  readonly namespace: CodeBindingNamespace;
  readonly #options: ToolBindingsOptions;
  readonly #queue = new DispatchQueue();
  readonly #stop = new AbortController();
  /** Fires when the run is cancelled, and when it has ended. */
  readonly #runSignal: AbortSignal;
  /** By number in program order. */
  readonly #started = new Map<number, StartedCall>();
  /** What the runtime cannot know of a call, by number in program order. */
  readonly #outcomes = new Map<number, 'not-started' | 'aborted' | 'outcome-unknown'>();
  /** The calls whose body ran, by number in program order. */
  readonly #ran = new Set<number>();
  /** No event leaves any more. */
  #closed = false;

  constructor(options: ToolBindingsOptions) {
    this.#options = options;
    this.#runSignal = AbortSignal.any([options.signal, this.#stop.signal]);
    const members = options.tools.map((tool) => [tool.name, this.#binding(tool)] as const);
    this.namespace = {
      global: TOOLS_GLOBAL,
      // `fromEntries` defines members, so that `__proto__` is a name like any other.
      functions: Object.fromEntries(members),
      errorClass: TOOL_CALL_ERROR,
    };
  }

  /**
   * Ends the calls with the run: what waits never starts, what runs is told to stop. Returns when
   * all have settled, at the latest after `graceMs`; no event leaves after that.
   */
  async close(graceMs: number): Promise<void> {
    this.#queue.abandon();
    this.#stop.abort(new DOMException('the program has ended', 'AbortError'));
    const grace = Promise.withResolvers<void>();
    const timer = setTimeout(grace.resolve, graceMs);
    await Promise.race([this.#queue.drained(), grace.promise]);
    clearTimeout(timer);
    for (const [number, started] of this.#started) {
      if (started.result !== undefined) continue;
      this.#settle(number, started, started.dispatched ? outcomeUnknown() : notStarted());
    }
    this.#closed = true;
  }

  /** The runtime's records, corrected by what it cannot see: which calls never left the queue. */
  recordsOf(calls: readonly CodeCallRecord[]): readonly CodeCallRecord[] {
    return calls.map((call) => {
      const outcome =
        call.global === TOOLS_GLOBAL ? this.#outcomes.get(Number(call.id)) : undefined;
      return outcome === undefined ? call : { ...call, outcome };
    });
  }

  /** Whether the body of a call ran, as far as that is known of calls that have failed. */
  bodyRan({ id }: CodeCallRecord): boolean {
    return this.#ran.has(Number(id));
  }

  /** What the calls leave for the conversation besides their values, in program order. */
  get deferred(): {
    readonly images: readonly ToolContent[];
    readonly additionalContext: readonly string[];
  } {
    const results = [...this.#started]
      .toSorted(([a], [b]) => a - b)
      .flatMap(([, { result }]) => (result === undefined ? [] : [result]));
    return {
      images: results.flatMap(({ content }) => content.filter(({ type }) => type === 'image')),
      additionalContext: results.flatMap(({ additionalContext = [] }) => additionalContext),
    };
  }

  #binding(tool: Tool): CodeBindingFunction {
    return async (args, context) => {
      if (args.length > 1) {
        throw coded(
          'INVALID_ARGUMENTS',
          `${memberAccess(TOOLS_GLOBAL, tool.name)} takes one object with named fields, got ${args.length} arguments`,
        );
      }
      const call = {
        id: `${this.#options.parentCallId}:${context.id}`,
        name: tool.name,
        // A copy, taken now: the call may wait while its caller goes on.
        arguments: args.length === 0 ? {} : structuredClone(args[0] as JsonValue),
      };
      return this.#enqueue(tool, call, context);
    };
  }

  async #enqueue(
    tool: Tool,
    call: ToolCall,
    context: CodeCallContext,
  ): Promise<JsonValue | undefined> {
    const number = Number(context.id);
    const signal = AbortSignal.any([context.signal, this.#runSignal]);
    const queuedAt = performance.now();
    try {
      return await this.#queue.add(() => this.#start(number, call, signal, queuedAt), {
        parallelSafe: tool.parallelSafe,
        signal,
      });
    } catch (error) {
      if (!(error instanceof CallNotStartedError)) throw error;
      this.#outcomes.set(number, 'not-started');
      throw coded('TOOL_ABORTED', NOT_STARTED_TEXT);
    }
  }

  async #start(
    number: number,
    call: ToolCall,
    signal: AbortSignal,
    queuedAt: number,
  ): Promise<JsonValue | undefined> {
    const { parentCallId, onCodeDispatch } = this.#options;
    const startedAt = performance.now();
    const told = onCodeDispatch?.({
      phase: 'start',
      parentCallId,
      callId: call.id,
      toolName: call.name,
      arguments: call.arguments,
    });
    const started: StartedCall = {
      call,
      queuedMs: startedAt - queuedAt,
      startedAt,
      dispatched: false,
      result: undefined,
    };
    this.#started.set(number, started);
    const outcome = await this.#dispatch(started, signal, told);
    // A settlement after the end is discarded: the run has said `outcome-unknown` already.
    if (!this.#closed) this.#settle(number, started, outcome);
    const { error, value } = outcome.result;
    if (error) throw coded(error.code, error.message);
    return value;
  }

  /** @param told - what the listener of the start answered with; the body comes after it */
  async #dispatch(
    started: StartedCall,
    signal: AbortSignal,
    told: void | Promise<void>,
  ): Promise<ToolOutcome> {
    if (told !== undefined) {
      try {
        await told;
      } catch (error) {
        return { result: resultOfError(error), outcome: 'not-started', bodyRan: false };
      }
      // `close` may have said by now that the call has not started.
      if (signal.aborted) return notStarted();
    }
    started.dispatched = true;
    started.startedAt = performance.now();
    return this.#options.dispatch(started.call, signal);
  }

  #settle(number: number, started: StartedCall, { result, outcome, bodyRan }: ToolOutcome): void {
    started.result = result;
    if (outcome !== 'done' && outcome !== 'failed') this.#outcomes.set(number, outcome);
    if (bodyRan) this.#ran.add(number);
    const told = this.#options.onCodeDispatch?.({
      phase: 'settle',
      parentCallId: this.#options.parentCallId,
      callId: started.call.id,
      toolName: started.call.name,
      outcome,
      result,
      durationMs: performance.now() - started.startedAt,
      queuedMs: started.queuedMs,
    });
    // Nothing waits for it; unheard, its rejection would end the process.
    Promise.resolve(told).catch((error: unknown) => process.emitWarning(messageOf(error)));
  }
}

function notStarted(): ToolOutcome {
  const result = errorResult('TOOL_ABORTED', NOT_STARTED_TEXT);
  return { result, outcome: 'not-started', bodyRan: false };
}

function outcomeUnknown(): ToolOutcome {
  const text = 'The program ended before the call had settled; whether it took effect is unknown.';
  return { result: errorResult('TOOL_ABORTED', text), outcome: 'outcome-unknown', bodyRan: true };
}

function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
