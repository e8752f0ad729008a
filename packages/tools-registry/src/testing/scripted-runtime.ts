import type {
  CodeCallRecord,
  CodeLogEntry,
  CodeRunFailure,
  CodeRunRequest,
  CodeRunResult,
  CodeRuntime,
  JsonValue,
} from '@carrel/code-runtime';

/** What a scripted program finds. */
interface ScriptedGlobals {
  /** The tools, called as a program would. */
  readonly tools: Readonly<
    Record<string, (...args: JsonValue[]) => Promise<JsonValue | undefined>>
  >;
  log(text: string): void;
}

/** A program for {@link ScriptedRuntime}. */
export type Script = (globals: ScriptedGlobals) => Promise<JsonValue | undefined>;

interface OpenCall {
  readonly id: string;
  readonly name: string;
  readonly args: readonly JsonValue[];
  readonly controller: AbortController;
  outcome: CodeCallRecord['outcome'];
  settled: boolean;
  done: Promise<unknown>;
}

/**
 * A code runtime that runs a host function instead of a program, in this process and without any
 * isolation. It drives the bindings as a real one does: numbers the calls, aborts what is open at
 * the end, and waits for it within a grace.
 */
export class ScriptedRuntime implements CodeRuntime {
  readonly language = 'typescript';
  readonly engine = 'scripted';
  readonly isolation = 'none';
  readonly requests: CodeRunRequest[] = [];
  readonly #script: Script;
  readonly #graceMs: number;

  constructor(script: Script, { graceMs = 50 }: { readonly graceMs?: number } = {}) {
    this.#script = script;
    this.#graceMs = graceMs;
  }

  async run(request: CodeRunRequest): Promise<CodeRunResult> {
    this.requests.push(request);
    const calls: OpenCall[] = [];
    const logs: CodeLogEntry[] = [];
    const end = await Promise.race([
      this.#runScript(request, calls, logs),
      aborted(request.signal),
    ]);
    for (const call of calls) call.controller.abort();
    const grace = new Promise((resolve) => setTimeout(resolve, this.#graceMs));
    await Promise.race([Promise.all(calls.map(({ done }) => done)), grace]);
    const records = calls.map(({ id, name, args, outcome, settled }) => ({
      id,
      global: 'tools',
      name,
      arguments: args,
      durationMs: 0,
      outcome: settled ? outcome : ('outcome-unknown' as const),
    }));
    return {
      ...end,
      logs,
      warnings: [],
      calls: records,
      usage: { cpuMs: 0, wallMs: 0, calls: calls.length, outputBytes: 0 },
      journal: {
        version: 1,
        program: request.program,
        seed: 'seed',
        startTimeMs: 0,
        calls: [],
        batches: [],
        ...('failure' in end ? { failure: end.failure } : {}),
      },
    };
  }

  async dispose(): Promise<void> {
    await Promise.resolve();
  }

  async #runScript(
    { bindings, onEvent }: CodeRunRequest,
    calls: OpenCall[],
    logs: CodeLogEntry[],
  ): Promise<{ value?: JsonValue } | { failure: CodeRunFailure }> {
    const culprits = new Map<unknown, OpenCall>();
    const members = Object.entries(bindings[0]?.functions ?? {}).map(([name, member]) => {
      const call = (...args: JsonValue[]): Promise<JsonValue | undefined> => {
        const controller = new AbortController();
        const id = String(calls.length + 1);
        const answer = member(args, { id, signal: controller.signal });
        const open: OpenCall = {
          id,
          name,
          args,
          controller,
          outcome: 'done',
          settled: false,
          done: answer,
        };
        open.done = answer.then(
          () => Object.assign(open, { settled: true, outcome: stopped(open) ?? 'done' }),
          (error: unknown) => {
            culprits.set(error, open);
            Object.assign(open, { settled: true, outcome: stopped(open) ?? 'failed' });
          },
        );
        calls.push(open);
        return answer;
      };
      return [name, call] as const;
    });
    const log = (text: string): void => {
      logs.push({ level: 'log', text });
      onEvent?.({ type: 'log', entry: { level: 'log', text } });
    };
    try {
      const value = await this.#script({ tools: Object.fromEntries(members), log });
      return value === undefined ? {} : { value };
    } catch (error) {
      const culprit = culprits.get(error);
      const { message, code } = error as Error & { code?: string };
      return {
        failure: {
          kind: 'exception',
          message,
          name: culprit ? 'ToolCallError' : 'Error',
          line: 2,
          column: 7,
          frame: '> 2 | await tools.x();\n    |       ^',
          ...(code === undefined ? {} : { code }),
          ...(culprit ? { call: { id: culprit.id, global: 'tools', name: culprit.name } } : {}),
        },
      };
    }
  }
}

function stopped({ controller }: OpenCall): 'aborted' | undefined {
  return controller.signal.aborted ? 'aborted' : undefined;
}

function aborted(signal: AbortSignal | undefined): Promise<{ failure: CodeRunFailure }> {
  const { promise, resolve } = Promise.withResolvers<{ failure: CodeRunFailure }>();
  const failure = { kind: 'aborted', message: 'the run was cancelled' } as const;
  signal?.addEventListener('abort', () => resolve({ failure }), { once: true });
  if (signal?.aborted) resolve({ failure });
  return promise;
}
