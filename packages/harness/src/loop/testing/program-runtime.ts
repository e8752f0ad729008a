import type { CodeRunRequest, CodeRunResult, CodeRuntime, JsonValue } from '@carrel/code-runtime';

type Tools = Readonly<Record<string, (input: JsonValue) => Promise<JsonValue | undefined>>>;

/**
 * A runtime for tests that runs a function of this process in the place of every program. It logs
 * the text of the program first.
 */
export function programRuntime(
  program: (tools: Tools, signal: AbortSignal) => Promise<JsonValue>,
): CodeRuntime {
  return {
    language: 'typescript',
    engine: 'test',
    isolation: 'none',
    run: (request) => run(program, request),
    dispose: () => Promise.resolve(),
  };
}

async function run(
  program: (tools: Tools, signal: AbortSignal) => Promise<JsonValue>,
  request: CodeRunRequest,
): Promise<CodeRunResult> {
  const signal = request.signal ?? new AbortController().signal;
  let count = 0;
  const functions = Object.entries(request.bindings[0]?.functions ?? {});
  const tools = functions.map(([name, call]) => {
    const answer = (input: JsonValue): ReturnType<typeof call> => {
      count += 1;
      return call([input], { id: String(count), signal });
    };
    return [name, answer] as const;
  });
  request.onEvent?.({ type: 'log', entry: { level: 'log', text: request.program } });
  const base = { logs: [], warnings: [], calls: [] };
  const usage = { cpuMs: 0, wallMs: 0, calls: count, outputBytes: 0 };
  const journal = {
    version: 1,
    program: request.program,
    seed: '',
    startTimeMs: 0,
    calls: [],
    batches: [],
  } as const;
  try {
    const value = await program(Object.fromEntries(tools), signal);
    return { ...base, value, usage, journal };
  } catch (error) {
    const kind = signal.aborted ? 'aborted' : 'exception';
    const failure = { kind, message: String(error) } as const;
    return { ...base, failure, usage, journal: { ...journal, failure } };
  }
}
