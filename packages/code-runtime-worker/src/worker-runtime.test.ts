import type {
  CodeBindingNamespace,
  CodeRunEvent,
  CodeRunRequest,
  CodeRunResult,
  CodeRuntime,
  JsonValue,
} from '@carrel/code-runtime';
import { createWorkerRuntime } from '@carrel/code-runtime-worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { childrenOf, isRunning } from './testing/processes.ts';

const MIB = 1024 * 1024;

/** The tools that the programs here know, and a witness of what really ran. */
class Bench {
  readonly notes: JsonValue[] = [];
  readonly bindings: readonly CodeBindingNamespace[] = [
    {
      global: 'tools',
      functions: {
        echo: async ([value]) => value,
        'get-user': async () => ({ id: 1 }),
        note: async ([value]) => {
          this.notes.push(value ?? null);
          return undefined;
        },
        fail: async ([message]) => {
          throw Object.assign(new Error(String(message)), { code: 'E_FAIL' });
        },
        never: async (_args, { signal }) => {
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
          this.notes.push('stopped');
        },
        deaf: () => new Promise(() => {}),
      },
      errorClass: { name: 'ToolCallError', memberProperty: 'toolName' },
    },
  ];
}

describe.each(['isolated-vm', 'quickjs'] as const)('a worker runtime on %s', (engine) => {
  let runtime: CodeRuntime;

  beforeAll(async () => {
    runtime = await createWorkerRuntime({
      engine,
      limits: { cpuMs: 2_000, wallMs: 5_000, memoryBytes: 64 * MIB, abortGraceMs: 200 },
      pool: { size: 2 },
    });
  });
  afterAll(() => runtime.dispose());

  async function run(
    program: string,
    request: Partial<CodeRunRequest> = {},
  ): Promise<CodeRunResult> {
    return runtime.run({ program, bindings: new Bench().bindings, ...request });
  }

  it('says what it is', () => {
    expect(runtime).toMatchObject({ language: 'typescript', engine });
    expect(runtime.isolation).toContain('worker process');
  });

  it('runs TypeScript and returns what it returned', async () => {
    const result = await run('const a: number = 40;\nreturn { sum: a + 2, text: "é\\u{1F600}" }');
    expect(result).toMatchObject({
      value: { sum: 42, text: 'é😀' },
      logs: [],
      warnings: [],
      calls: [],
    });
    expect(result.failure).toBeUndefined();
  });

  it('tells no value from null', async () => {
    expect(await run('await tools.echo(1)')).not.toHaveProperty('value');
    expect(await run('return null')).toHaveProperty('value', null);
  });

  it('calls host functions by their exact name, with plain copies, and records each call', async () => {
    const result = await run(
      'const user = await tools["get-user"]();\nreturn await tools.echo({ user, gone: undefined, when: new Date(0) })',
    );
    const value = { user: { id: 1 }, when: '1970-01-01T00:00:00.000Z' };
    expect(result.value).toEqual(value);
    expect(result.calls).toMatchObject([
      { id: '1', global: 'tools', name: 'get-user', arguments: [], outcome: 'done' },
      { id: '2', global: 'tools', name: 'echo', arguments: [value], outcome: 'done' },
    ]);
  });

  it('throws a failed call into the program as an error of the declared class', async () => {
    const result = await run(`try { await tools.fail("boom") } catch (e) {
      return [e instanceof ToolCallError, e instanceof Error, e.name, e.toolName, e.code, e.message];
    }`);
    expect(result.value).toEqual([true, true, 'ToolCallError', 'fail', 'E_FAIL', 'boom']);
  });

  it('locates a failed call at the line of the call, and names it', async () => {
    const result = await run(
      'const a = 1;\nconst f = async () => {\n  await tools.echo(a);\n  await tools.fail("boom");\n};\nawait f();',
    );
    expect(result.failure).toMatchObject({
      kind: 'exception',
      message: 'boom',
      name: 'ToolCallError',
      code: 'E_FAIL',
      line: 4,
      call: { id: '2', global: 'tools', name: 'fail' },
    });
    expect(result.failure?.frame).toContain('> 4 |   await tools.fail("boom");');
  });

  it('locates a throw at its own line, after awaits too', async () => {
    const { failure } = await run(
      'const a = 1;\n\nawait tools.echo(a);\nthrow new RangeError("here");',
    );
    expect(failure).toMatchObject({
      kind: 'exception',
      name: 'RangeError',
      message: 'here',
      line: 4,
    });
  });

  it('rejects one call whose arguments are not JSON, by the path', async () => {
    const result = await run('await tools.echo({ filter: { since: 10n } })');
    expect(result.failure).toMatchObject({
      kind: 'exception',
      code: 'INVALID_ARGUMENTS',
      message: 'The arguments cannot be sent: $.filter.since: a BigInt is not JSON',
      line: 1,
    });
    expect(result.calls).toEqual([]);
  });

  it('keeps what was logged and what was called, whatever became of the run', async () => {
    const events: CodeRunEvent[] = [];
    const { logs, failure, calls } = await run(
      'console.log("a", { b: [1, new Map([["k", undefined]])] });\nawait tools.echo(1);\nconsole.error("c");\nfor (;;);',
      { onEvent: (event) => events.push(event) },
    );
    expect(failure?.kind).toBe('cpu-limit');
    expect(logs).toEqual([
      { level: 'log', text: 'a { b: [ 1, Map(1) { "k" => undefined } ] }' },
      { level: 'error', text: 'c' },
    ]);
    expect(calls).toMatchObject([{ name: 'echo', outcome: 'done' }]);
    expect(events.map(({ type }) => type)).toEqual(['log', 'call-start', 'call-end', 'log']);
  });

  it('converts a returned value and says where', async () => {
    const { value, warnings } = await run('return { ids: new Set([1]), big: 10n }');
    expect(value).toEqual({ ids: [1], big: '10' });
    expect(warnings).toMatchObject([
      { code: 'value-converted', path: '$.ids' },
      { code: 'value-converted', path: '$.big' },
    ]);
  });

  it.each<[string, string, string]>([
    ['cpu-limit', 'a loop', 'for (;;);'],
    ['cpu-limit', 'a loop after a call', 'await tools.echo(1); for (;;);'],
    [
      'cpu-limit',
      'a loop beside a call in flight',
      'void tools.deaf(); await tools.echo(1); for (;;);',
    ],
    ['cpu-limit', 'endless microtasks', 'for (;;) await null;'],
    ['cpu-limit', 'a catastrophic pattern', 'return /^(a+)+$/.test("a".repeat(60) + "!");'],
    ['memory-limit', 'a growing array', 'const a = []; for (;;) a.push(new Array(1000).fill(1));'],
    ['memory-limit', 'a growing Map', 'const m = new Map(); for (let i = 0; ; i++) m.set(i, {});'],
    ['memory-limit', 'promises that grow', 'const f = () => Promise.resolve().then(f); await f();'],
    ['memory-limit', 'spreading a huge string', 'return [..." ".repeat(5e8)].length;'],
    ['memory-limit', 'a filled array', 'new Array(60 * 1024 * 1024).fill(); return 1;'],
    ['deadlock', 'a promise that nothing settles', 'await new Promise(() => {});'],
    ['call-limit', 'too many calls at once', 'for (let i = 0; i < 5000; i++) tools.echo(i);'],
    ['syntax', 'no program', 'const = 1'],
    [
      'syntax',
      'nesting that no parser takes',
      `return ${'('.repeat(10_000)}1${')'.repeat(10_000)}`,
    ],
    ['source-limit', 'too much text', `//${'x'.repeat(300_000)}`],
    ['exception', 'endless recursion', 'const f = () => f(); f();'],
    ['exception', 'what is no error', 'throw { a: 1 };'],
  ])('ends a run with %s for %s, and goes on', async (kind, _what, program) => {
    // Filling the memory takes its time on a busy machine.
    const limits = kind === 'memory-limit' ? { cpuMs: 20_000, wallMs: 20_000 } : {};
    const { failure } = await run(program, { limits });
    expect(failure?.kind).toBe(kind);
    expect(JSON.stringify(failure)).not.toMatch(/node_modules|file:|carrel:|dist\//);
    expect(await run('return 1')).toMatchObject({ value: 1 });
  });

  it('ends a run whose output is over the limit, with both figures', async () => {
    const limits = { maxOutputBytes: 100 };
    const value = await run('console.log("x".repeat(40)); return "y".repeat(60)', { limits });
    expect(value.failure).toMatchObject({
      kind: 'output-limit',
      message:
        'The returned value is 62 bytes of JSON and the logs 41; together at most 100 are kept',
    });
    expect(value.logs).toHaveLength(1);
    expect(
      await run('console.log("x".repeat(40)); return "y".repeat(57)', { limits }),
    ).toMatchObject({
      usage: { outputBytes: 100 },
    });
    const logs = await run('for (;;) console.log("0123456789")', { limits });
    expect(logs.failure?.kind).toBe('output-limit');
    expect(logs.logs).toHaveLength(9);
  });

  it('counts waiting against the wall limit and not against the CPU limit', async () => {
    const waited = await run('await new Promise((r) => setTimeout(r, 300)); return "done"', {
      limits: { cpuMs: 200 },
    });
    expect(waited.value).toBe('done');
    const bench = new Bench();
    const { failure, calls } = await runtime.run({
      program: 'await tools.never()',
      bindings: bench.bindings,
      limits: { wallMs: 100 },
    });
    expect(failure?.kind).toBe('wall-limit');
    expect(calls).toMatchObject([{ name: 'never', outcome: 'aborted' }]);
    expect(bench.notes).toEqual(['stopped']);
  });

  it('starts nothing that was asked for together with the return', async () => {
    const bench = new Bench();
    const { value, calls } = await runtime.run({
      program: 'tools.note("never"); return 5',
      bindings: bench.bindings,
    });
    expect(value).toBe(5);
    expect(calls).toMatchObject([{ name: 'note', outcome: 'not-started' }]);
    expect(bench.notes).toEqual([]);
  });

  it('says of a call that ignores its signal that its outcome is unknown', async () => {
    const { value, calls } = await run('void tools.deaf(); await tools.echo(1); return 2');
    expect(value).toBe(2);
    expect(calls).toMatchObject([
      { name: 'deaf', outcome: 'outcome-unknown' },
      { name: 'echo', outcome: 'done' },
    ]);
  });

  it.each(['for (;;);', 'await tools.never()', 'await new Promise((r) => setTimeout(r, 4000))'])(
    'ends as aborted when its signal fires during %j',
    async (program) => {
      const controller = new AbortController();
      const running = run(`console.log("began"); ${program}`, {
        signal: controller.signal,
        onEvent: ({ type }) => {
          if (type === 'log') controller.abort();
        },
      });
      const { failure, logs } = await running;
      expect(failure?.kind).toBe('aborted');
      expect(logs).toEqual([{ level: 'log', text: 'began' }]);
      expect(await run('return 1')).toMatchObject({ value: 1 });
    },
  );

  it('runs nothing when its signal has fired before', async () => {
    const { failure, calls } = await run('await tools.echo(1)', { signal: AbortSignal.abort() });
    expect(failure?.kind).toBe('aborted');
    expect(calls).toEqual([]);
  });

  it('carries nothing from one run to the next', async () => {
    await run(`Array.prototype.map = () => ["X"]; Object.prototype.toJSON = () => "X"; JSON.stringify = () => "X";
      globalThis.keep = 1; console.log = () => {}; return 1`);
    const { value, logs } = await run(
      'console.log("hi"); return [[1].map((x) => x + 1), typeof keep, await tools.echo({ a: 1 })]',
    );
    expect(value).toEqual([[2], 'undefined', { a: 1 }]);
    expect(logs).toEqual([{ level: 'log', text: 'hi' }]);
  });

  it('dispatches what the program said, whatever it did to JSON', async () => {
    const { value, calls } = await run(
      'JSON.stringify = () => "forged"; JSON.parse = () => "forged"; return await tools.echo({ a: 2 })',
    );
    expect(value).toEqual({ a: 2 });
    expect(calls).toMatchObject([{ arguments: [{ a: 2 }] }]);
  });

  it('gives the program no way to code from text, to the host, or to the engine', async () => {
    const { value } = await run(`
      const attempts = [
        () => eval("1"), () => Function("return 1")(), () => new Function("return 1")(),
        () => (async () => {}).constructor("return 1"), () => (function* () {}).constructor("yield 1"),
        () => tools.echo.constructor("return 1")(), () => console.log.constructor("return 1")(),
        () => setTimeout("1", 0),
      ];
      const outcome = (attempt) => { try { return attempt() && "ran" } catch (error) { return error.name } };
      const absent = ["fetch", "require", "process", "Buffer", "WebAssembly", "SharedArrayBuffer", "Atomics",
        "WeakRef", "FinalizationRegistry", "eval", "carrelNotice", "module", "exports", "global", "self"];
      return [attempts.map(outcome), absent.filter((name) => name in globalThis)];`);
    const [outcomes, present] = value as [string[], string[]];
    expect(outcomes).not.toContain('ran');
    expect(present).toEqual([]);
  });

  it('shows the program no path of the host on any stack', async () => {
    const { value } = await run(`const stacks = [new Error("a").stack];
      try { await tools.fail("b") } catch (error) { stacks.push(error.stack) }
      await tools.echo(1).then(() => { stacks.push(new Error("c").stack) });
      try { tools.echo(1n); await tools.echo({ get x() { stacks.push(new Error("d").stack); return 1 } }) } catch {}
      return stacks.join("\\n")`);
    expect(value).not.toMatch(/file:|node_modules|dist\/|[A-Za-z-]+\/[a-z-]+\.js/);
  });

  it('goes on after a rejection that nobody handles', async () => {
    const program = `Promise.reject(new Error("floating"));
      tools.fail("unheard");
      await tools.echo(1);
      (async () => { throw new Error("late") })();
      return 5`;
    for (let times = 0; times < 3; times += 1)
      expect(await run(program)).toMatchObject({ value: 5 });
  });

  it('loads no module for a program, however it asks', async () => {
    const url = JSON.stringify(new URL('guest/guest.js', import.meta.url).href);
    for (const specifier of [
      url,
      '"./guest.js"',
      '"carrel:guest.js"',
      '"@carrel/code-runtime/json"',
    ]) {
      const sneaked = `let a=1,b=1; a <!-- /*\nconst q = await import(${specifier}); return Object.keys(q) //*/ b;`;
      expect((await run(sneaked)).failure?.kind).toBe('syntax');
    }
  });

  it('takes a program that is one large table of texts', async () => {
    const program = `const a = [${'"x",'.repeat(60_000)}];\nreturn a.length`;
    expect(await run(program)).toMatchObject({ value: 60_000 });
  });

  it('tells timers apart that are set while another is', async () => {
    const program = `const fired = [];
      setTimeout(() => fired.push("outer"), { valueOf() { setTimeout(() => fired.push("inner"), 1); return 2 } });
      await new Promise((resolve) => setTimeout(resolve, 30));
      return fired`;
    expect(await run(program)).toMatchObject({ value: ['inner', 'outer'] });
  });

  it('draws randomness and time from the seed and the start alone', async () => {
    const program = `const a = [Math.random(), crypto.randomUUID(), Date.now(), new Date().toISOString()];
      await new Promise((r) => setTimeout(r, 20));
      return [...a, Date.now() > a[2]]`;
    const first = await run(program, { seed: 's', startTimeMs: 1_000 });
    const second = await run(program, { seed: 's', startTimeMs: 1_000 });
    const other = await run(program, { seed: 't', startTimeMs: 1_000 });
    expect(first.value).toEqual(second.value);
    expect((first.value as JsonValue[]).slice(2)).toEqual([
      1_000,
      '1970-01-01T00:00:01.000Z',
      true,
    ]);
    expect((other.value as JsonValue[])[0]).not.toBe((first.value as JsonValue[])[0]);
  });

  it('journals the seed, the start, the calls and what settled them', async () => {
    const { journal } = await run(
      'const [a] = await Promise.all([tools.echo(1), tools.fail("no").catch(() => 0)]); return a',
      { seed: 's', startTimeMs: 5 },
    );
    expect(journal).toMatchObject({
      version: 1,
      seed: 's',
      startTimeMs: 5,
      calls: [
        { global: 'tools', name: 'echo', arguments: [1], outcome: 'done' },
        { global: 'tools', name: 'fail', arguments: ['no'], outcome: 'failed' },
      ],
    });
    expect(journal.batches.flatMap(({ settlements }) => settlements)).toEqual([
      { id: 1, value: 1 },
      { id: 2, error: { message: 'no', code: 'E_FAIL' } },
    ]);
  });

  it('outlives a listener that throws, which changes nothing for the run', async () => {
    const warning = new Promise((resolve) => process.once('warning', resolve));
    const result = await run('console.log(1); return await tools.echo(2)', {
      onEvent: () => {
        throw new Error('a careless listener');
      },
    });
    expect(result).toMatchObject({ value: 2, logs: [{ text: '1' }], calls: [{ outcome: 'done' }] });
    expect(await warning).toMatchObject({ message: 'a careless listener' });
  });

  it.each([
    'Object.prototype.toJSON = () => ({ value: nested }); throw new Error("x")',
    'Object.prototype.toJSON = () => undefined; throw new Error("x")',
    'Array.prototype.toJSON = () => nested; setTimeout(() => {}, 1); return new Set([1])',
    'Array.prototype.map = null; Array.prototype.join = null; String.prototype.slice = null; throw "x"',
    'throw new Proxy({}, { getPrototypeOf() { throw 1 } })',
    'throw Object.create(null)',
    'class E extends Error { get message() { throw 1 } get stack() { for (;;); } } throw new E()',
  ])('lets a program word its own end and nothing else (case %$)', async (program) => {
    const prelude = 'let nested = 1; for (let i = 0; i < 5000; i++) nested = [nested];';
    const { value, failure } = await run(`${prelude} ${program}`, { limits: { cpuMs: 500 } });
    expect(['exception', 'cpu-limit', undefined]).toContain(failure?.kind);
    expect([undefined, 1]).toContain(Array.isArray(value) ? value[0] : value);
    expect(await run('return 1')).toMatchObject({ value: 1 });
  });

  it.each(['timed out', 'memory limit', 'Script execution timed out.'])(
    'does not read a floating rejection that says %j as an ending of its own',
    async (words) => {
      const program = `Promise.reject(new Error(${JSON.stringify(words)})); await tools.echo(1); return 5`;
      expect(await run(program)).toMatchObject({ value: 5 });
    },
  );

  it.each([
    ['undefined', undefined, 'thrown: undefined'],
    ['null', null, 'thrown: null'],
    ['an object without a text', Object.create(null), 'an error without a message'],
    ['a text', 'plain', 'plain'],
  ])(
    'takes a host function that rejects with %s for one that failed',
    async (_what, reason, message) => {
      const functions = { odd: () => Promise.reject(reason) };
      const { value, calls } = await run('return await host.odd().catch((e) => e.message)', {
        bindings: [{ global: 'host', functions }],
      });
      expect(value).toBe(message);
      expect(calls).toMatchObject([{ outcome: 'failed' }]);
    },
  );

  it.each(['Infinity', '1e300', 'NaN', '"x"', '-1', '2 ** 31'])(
    'takes a timer of %s milliseconds',
    async (delay) => {
      const program = `setTimeout(() => {}, ${delay}); await tools.echo(1); return 1`;
      expect(await run(program)).toMatchObject({ value: 1 });
    },
  );

  it('tells conversions once each, and a few of many', async () => {
    const few = await run('return [NaN]');
    expect(few.warnings).toEqual([
      { code: 'value-converted', path: '$[0]', message: 'NaN is not JSON; it became null' },
    ]);
    const { warnings } = await run('return new Array(100_000).fill(NaN)');
    expect(warnings).toHaveLength(21);
    expect(warnings.at(-1)?.message).toBe('99980 more values were converted');
  });

  it('counts a line of the log even when it is empty', async () => {
    const { logs, failure } = await run('for (;;) console.log()', {
      limits: { maxOutputBytes: 50 },
    });
    expect(failure?.kind).toBe('output-limit');
    expect(logs).toHaveLength(50);
  });

  it('runs programs side by side, each on its own', async () => {
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, index) => run(`return await tools.echo(${index})`)),
    );
    expect(results.map(({ value }) => value)).toEqual(
      Array.from({ length: 12 }, (_, index) => index),
    );
  });

  it('refuses misuse with a TypeError before anything runs', async () => {
    await expect(run('return 1', { limits: { cpuMs: 0 } })).rejects.toThrow(TypeError);
    await expect(run(1 as never)).rejects.toThrow('Expected `program` to be a string, got number');
    await expect(run('', { bindings: {} as never })).rejects.toThrow('`bindings`');
    await expect(
      run('return 1', { bindings: [{ global: 'class', functions: {} }] }),
    ).rejects.toThrow(TypeError);
  });
});

describe('the pool', () => {
  it('refuses a run that finds the queue full, and says that it may be tried again', async () => {
    const runtime = await createWorkerRuntime({ pool: { size: 1, maxQueue: 1 } });
    const { bindings } = new Bench();
    const controller = new AbortController();
    const request = { program: 'await tools.never()', bindings, signal: controller.signal };
    const runs = [1, 2, 3].map(() => runtime.run(request));
    const refused = await Promise.race(
      runs.map((promise) => promise.catch((error: unknown) => error)),
    );
    expect(refused).toMatchObject({
      name: 'CodeRuntimeError',
      code: 'queue-full',
      retryable: true,
    });
    controller.abort();
    const settled = await Promise.allSettled(runs);
    expect(settled.map(({ status }) => status).toSorted()).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
    ]);
    await runtime.dispose();
  });

  it('serves a run that is queued behind one whose worker is killed', async () => {
    const runtime = await createWorkerRuntime({ pool: { size: 1 }, limits: { cpuMs: 100 } });
    for (let round = 0; round < 3; round += 1) {
      const runs = ['for (;;);', 'return 1', 'return 2'].map((program) =>
        runtime.run({ program, bindings: [] }),
      );
      const [killed, ...others] = await Promise.all(runs);
      expect(killed?.failure?.kind).toBe('cpu-limit');
      expect(others.map(({ value }) => value)).toEqual([1, 2]);
    }
    await runtime.dispose();
  });

  it('is unharmed by runs that are cancelled at any stage', async () => {
    const runtime = await createWorkerRuntime({ pool: { size: 1 } });
    const { bindings } = new Bench();
    for (let turns = 0; turns < 30; turns += 1) {
      const controller = new AbortController();
      const cancelled = runtime.run({
        program: 'await tools.echo(1); for (;;);',
        bindings,
        signal: controller.signal,
      });
      const next = runtime.run({ program: 'return 1', bindings });
      for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
      controller.abort();
      expect((await cancelled).failure?.kind).toBe('aborted');
      expect(await next).toMatchObject({ value: 1 });
    }
    await runtime.dispose();
  });

  it('replaces a worker that is killed in the middle of a run', async () => {
    const runtime = await createWorkerRuntime({ pool: { size: 1 } });
    const before = childrenOf(process.pid);
    const { failure } = await runtime.run({
      program: 'console.log("began"); await tools.never()',
      bindings: new Bench().bindings,
      onEvent: ({ type }) => {
        if (type === 'call-start') for (const pid of before) process.kill(pid, 'SIGKILL');
      },
    });
    expect(failure?.kind).toBe('worker-crash');
    expect(await runtime.run({ program: 'return 1', bindings: [] })).toMatchObject({ value: 1 });
    await runtime.dispose();
  });

  it('leaves no process when it is disposed during runs, which end as aborted', async () => {
    const runtime = await createWorkerRuntime({ pool: { size: 2 } });
    const { bindings } = new Bench();
    const runs = ['for (;;);', 'await tools.never()'].map((program) =>
      runtime.run({ program, bindings }),
    );
    const pids = childrenOf(process.pid);
    expect(pids).not.toEqual([]);
    await runtime.dispose();
    const results = await Promise.all(runs);
    expect(results.map(({ failure }) => failure?.kind)).toEqual(['aborted', 'aborted']);
    expect(pids.filter(isRunning)).toEqual([]);
    expect(childrenOf(process.pid)).toEqual([]);
    await expect(runtime.run({ program: 'return 1', bindings })).rejects.toMatchObject({
      code: 'runtime-disposed',
    });
    await runtime.dispose();
  });

  it('refuses an engine or a size that there is not', async () => {
    await expect(createWorkerRuntime({ engine: 'node:vm' as never })).rejects.toThrow(/`engine`/);
    await expect(createWorkerRuntime({ pool: { size: 0 } })).rejects.toThrow(/`pool.size`/);
  });
});
