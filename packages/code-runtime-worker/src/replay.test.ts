import type { CodeBindingNamespace, CodeRunJournal, CodeRuntime } from '@carrel/code-runtime';
import { createWorkerRuntime } from '@carrel/code-runtime-worker';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ENGINES = ['isolated-vm', 'quickjs'] as const;
const runtimes = new Map<string, CodeRuntime>();

beforeAll(async () => {
  for (const engine of ENGINES) {
    const limits = { wallMs: 5_000, abortGraceMs: 50 };
    runtimes.set(engine, await createWorkerRuntime({ engine, limits, pool: { size: 1 } }));
  }
});
afterAll(() => Promise.all([...runtimes.values()].map((runtime) => runtime.dispose())));

/** Tools whose answers come in an order that no program decides, and a count of what really ran. */
function tools(delays: readonly number[] = []): {
  readonly bindings: readonly CodeBindingNamespace[];
  readonly ran: () => number;
} {
  let count = 0;
  const wait = (): Promise<void> =>
    new Promise((resolve) => setTimeout(resolve, delays[count % delays.length] ?? 0));
  const functions: CodeBindingNamespace['functions'] = {
    roll: async ([sides]) => {
      count += 1;
      const roll = count * 7;
      await wait();
      return roll % Number(sides);
    },
    fail: async ([message]) => {
      count += 1;
      await wait();
      throw Object.assign(new Error(String(message)), { code: 'E_FAIL' });
    },
    deaf: () => {
      count += 1;
      return new Promise(() => {});
    },
  };
  return { bindings: [{ global: 'tools', functions }], ran: () => count };
}

/** Concurrency, chance, time, failures and timers, in one program. */
const PROGRAM = `
const lines = [];
const note = (line) => { lines.push(line); console.log(line, Date.now(), Math.random()) };
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
await Promise.all([3, 5, 7, 11].map(async (sides, index) => {
  await sleep(Math.floor(Math.random() * 5));
  note(index + ":" + await tools.roll(sides));
}));
note("first " + await Promise.race([tools.roll(100), tools.roll(1000), sleep(3).then(() => "timer")]));
note((await Promise.allSettled([tools.fail("a"), tools.roll(9)])).map((s) => s.reason?.code ?? s.value).join());
return { lines, id: crypto.randomUUID(), at: new Date().toISOString() };
`;

function runtimeOf(engine: string): CodeRuntime {
  const runtime = runtimes.get(engine);
  if (runtime === undefined) throw new Error(`no runtime ${engine}`);
  return runtime;
}

describe.each(
  ENGINES.flatMap((recorded) => ENGINES.map((replayed) => [recorded, replayed] as const)),
)('a run recorded on %s and replayed on %s', (recordingEngine, replayingEngine) => {
  it('gives the same calls, logs and value, and calls no host function', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(6), { minLength: 1, maxLength: 6 }), async (delays) => {
        const live = tools(delays);
        const recorded = await runtimeOf(recordingEngine).run({
          program: PROGRAM,
          bindings: live.bindings,
        });
        expect(recorded.failure).toBeUndefined();
        expect(live.ran()).toBeGreaterThan(0);
        // As it comes back from a log.
        const replay = JSON.parse(JSON.stringify(recorded.journal)) as CodeRunJournal;
        const again = tools();
        const replayed = await runtimeOf(replayingEngine).run({
          program: PROGRAM,
          bindings: again.bindings,
          replay,
        });
        expect(again.ran()).toBe(0);
        expect(replayed.failure).toBeUndefined();
        expect(JSON.stringify(replayed.value)).toBe(JSON.stringify(recorded.value));
        expect(replayed.logs).toEqual(recorded.logs);
        const outcomes = ({ calls }: typeof recorded): unknown =>
          calls.map((call) => ({ ...call, durationMs: 0 }));
        expect(outcomes(replayed)).toEqual(outcomes(recorded));
        expect(replayed.journal).toEqual(recorded.journal);
      }),
      { numRuns: 5 },
    );
  });
});

describe.each(ENGINES)('a replay on %s', (engine) => {
  async function record(program: string, limits = {}): Promise<CodeRunJournal> {
    const { journal } = await runtimeOf(engine).run({
      program,
      bindings: tools().bindings,
      limits,
    });
    return journal;
  }

  async function replay(program: string, journal: CodeRunJournal) {
    return runtimeOf(engine).run({ program, bindings: tools().bindings, replay: journal });
  }

  it.each([
    [
      'return await tools.roll(6)',
      'return await tools.roll(7)',
      'Call 1 is tools["roll"](7), but the recorded run called tools["roll"](6)',
      '1',
    ],
    [
      'await tools.roll(6); return 1',
      'await tools.roll(6); await tools.roll(6); return 1',
      'Call 2 is tools["roll"](6), but the recorded run made none',
      '2',
    ],
    [
      'await tools.roll(6); await tools.fail("x")',
      'await tools.roll(6); return 1',
      'The program ended with a return, and the recorded run with exception',
      undefined,
    ],
    [
      'await tools.roll(6); return 1',
      'return 1',
      'The program ended, but the recorded run went on to call tools["roll"](6)',
      '1',
    ],
    [
      'return 1',
      'await new Promise(() => {})',
      'The program still waits, but the recorded run ended here with a return',
      undefined,
    ],
  ])(
    'of another course than %j is a divergence that names it',
    async (program, other, message, call) => {
      const { failure } = await replay(other, await record(program));
      expect(failure).toMatchObject({ kind: 'divergence', message });
      expect(failure?.call?.id).toBe(call);
    },
  );

  it('of half a journal is misuse', async () => {
    await expect(replay('return 1', { version: 1 } as never)).rejects.toThrow(TypeError);
  });

  it.each([
    ['exception', 'await tools.roll(6); throw new Error("bad")', {}],
    ['deadlock', 'await tools.roll(6); await new Promise(() => {})', {}],
    ['wall-limit', 'await tools.roll(6); await tools.deaf()', { wallMs: 100 }],
  ])('of a run that ended with %s ends the same way', async (kind, program, limits) => {
    const journal = await record(program, limits);
    expect(journal.failure?.kind).toBe(kind);
    const { failure, calls } = await replay(program, journal);
    expect(failure).toMatchObject({ kind, message: journal.failure?.message });
    expect(calls.map(({ outcome }) => outcome)).toEqual(
      journal.calls.map(({ outcome }) => outcome),
    );
  });
});
