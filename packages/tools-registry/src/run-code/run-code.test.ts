import { setImmediate } from 'node:timers/promises';
import { CodeRuntimeError } from '@carrel/code-runtime';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ScriptedRuntime } from '../testing/scripted-runtime.ts';
import type { Script } from '../testing/scripted-runtime.ts';
import { toolResult } from '../tool-result.ts';
import type { ToolResult } from '../tool-result.ts';
import { ToolsRegistry } from '../tools-registry.ts';
import type { ToolDefinition } from '../tool.ts';
import type { CodeDispatchEvent, CodeRunDetails } from './code-dispatch.ts';

const objectSchema = { type: 'object' };

/** A registry in code mode whose programs are `script`, with everything a run leaves in view. */
class Bench {
  readonly registry: ToolsRegistry;
  readonly runtime: ScriptedRuntime;
  readonly events: CodeDispatchEvent[] = [];
  readonly controller = new AbortController();
  readonly open: { resolve(value: unknown): void; signal: AbortSignal }[] = [];

  constructor(script: Script, options: { readonly graceMs?: number } = {}) {
    this.runtime = new ScriptedRuntime(script, options);
    this.registry = new ToolsRegistry({ mode: 'code', runtime: this.runtime, abortGraceMs: 20 });
    this.#register('echo', (input) => input['v']);
    this.#register('fail', ({ msg }) => {
      throw Object.assign(new Error(String(msg)), { code: 'E_FAIL' });
    });
    this.#register('wait', (_input, signal) => {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      signal.addEventListener('abort', () => reject(new Error('told to stop')));
      this.open.push({ resolve, signal });
      return promise;
    });
    this.#register('stuck', (_input, signal) => {
      const { promise, resolve } = Promise.withResolvers<unknown>();
      this.open.push({ resolve, signal });
      return promise;
    });
    this.#register('picture', ({ v }) =>
      toolResult({
        value: v,
        content: [{ type: 'image', mediaType: 'image/png', base64: String(v) }],
        additionalContext: [`note ${String(v)}`],
      }),
    );
  }

  /** @param onStart - what the listener of a start answers with */
  run(code = 'the script', onStart?: () => Promise<void>): Promise<ToolResult> {
    return this.registry.execute(
      { id: 'call', name: 'run_code', arguments: { code } },
      {
        signal: this.controller.signal,
        onCodeDispatch: (event) => {
          this.events.push(event);
          return event.phase === 'start' ? onStart?.() : undefined;
        },
      },
    );
  }

  get trace(): readonly string[] {
    return this.events.map((event) =>
      event.phase === 'start'
        ? `start ${event.callId} ${event.toolName}`
        : `settle ${event.callId} ${event.outcome}`,
    );
  }

  #register(
    name: string,
    execute: (input: Record<string, unknown>, signal: AbortSignal) => unknown,
  ): void {
    this.registry.register({
      name,
      description: name,
      inputSchema: objectSchema,
      execute: (input, { signal }) => execute(input, signal),
    });
  }
}

/** Tools whose calls fail in every way but by throwing; `gone` disappears when another is denied. */
function registerOddTools(registry: ToolsRegistry): void {
  const register = (name: string, definition: Partial<ToolDefinition> = {}): (() => void) =>
    registry.register({
      name,
      description: name,
      inputSchema: objectSchema,
      execute: () => 'x',
      ...definition,
    });
  register('denied');
  register('asks', { approval: true });
  register('typed', { inputSchema: { type: 'object', properties: { v: { type: 'string' } } } });
  register('number_only', { outputSchema: { type: 'number' } });
  register('blocked');
  register('slow', {
    timeoutMs: 5,
    execute: (_input, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('stopped')));
      }),
  });
  const remove = register('gone');
  registry.use('tools/pre-execute', async ({ call }, next) => {
    if (call.name !== 'denied') return next();
    remove();
    return { decision: 'deny', reason: 'no' };
  });
  registry.use('tools/post-execute', async ({ call }, next) =>
    call.name === 'blocked' ? { decision: 'block', feedback: 'not fit to be seen' } : next(),
  );
}

function textOf(result: ToolResult): string {
  return result.content.map((piece) => (piece.type === 'text' ? piece.text : '[image]')).join('\n');
}
function outcomesOf(result: ToolResult): readonly string[] {
  const details = result.details as unknown as CodeRunDetails;
  return details.calls.map(({ outcome }) => outcome);
}

describe('run_code', () => {
  it.each<[string, Script, string]>([
    ['compact JSON', () => Promise.resolve({ a: [1, null] }), '{"a":[1,null]}'],
    ['a string as it is', () => Promise.resolve('two\nlines'), 'two\nlines'],
    ['a stated text for none', () => Promise.resolve(undefined), 'no value returned'],
  ])('answers with the value: %s', async (_title, script, text) => {
    const result = await new Bench(script).run();
    expect(result.isError).toBe(false);
    expect(textOf(result)).toBe(text);
  });

  it('tells the logs after the value, and keeps journal and calls in the details', async () => {
    const bench = new Bench(async ({ tools, log }) => {
      log('working');
      return (await tools['echo']?.({ v: 1 })) ?? null;
    });
    const result = await bench.run();
    expect(textOf(result)).toBe('1\n\nLogs:\nworking');
    expect(result.value).toBe(1);
    expect(result.details).toMatchObject({
      journal: { version: 1, program: 'the script' },
      calls: [{ id: '1', global: 'tools', name: 'echo', arguments: [{ v: 1 }], outcome: 'done' }],
    });
  });

  it('hands the runtime the program, the declarations and the tools under their exact names', async () => {
    const bench = new Bench(() => Promise.resolve(null));
    await bench.run('return 1');
    const [request] = bench.runtime.requests;
    expect(request?.program).toBe('return 1');
    expect(request?.declarations).toContain('echo(input?: { [key: string]: unknown })');
    expect(request?.bindings[0]).toMatchObject({
      global: 'tools',
      errorClass: { name: 'ToolCallError', memberProperty: 'toolName' },
    });
    const names = Object.keys(request?.bindings[0]?.functions ?? {});
    expect(names.toSorted()).toEqual(['echo', 'fail', 'picture', 'stuck', 'wait']);
  });

  it('is checked like any tool', async () => {
    const bench = new Bench(() => Promise.resolve(null));
    const result = await bench.registry.execute(
      { id: 'call', name: 'run_code', arguments: { cod: 'return 1' } },
      { signal: bench.controller.signal },
    );
    expect(result.error?.code).toBe('INVALID_ARGUMENTS');
    expect(bench.runtime.requests).toEqual([]);
  });

  it('passes the chains of the registry, as its calls do', async () => {
    const bench = new Bench(async ({ tools }) => (await tools['echo']?.({ v: 1 })) ?? null);
    const seen: string[] = [];
    bench.registry.use('tools/pre-execute', ({ call, parentCallId }, next) => {
      seen.push(`${call.name} ${call.id} in ${String(parentCallId)}`);
      return next();
    });
    await bench.run();
    expect(seen).toEqual(['run_code call in undefined', 'echo call:1 in call']);
  });

  it('says so when the runtime cannot take the program', async () => {
    const bench = new Bench(() => Promise.resolve(null));
    bench.runtime.run = () =>
      Promise.reject(
        new CodeRuntimeError('the queue is full', { code: 'queue-full', retryable: true }),
      );
    expect((await bench.run()).error).toEqual({
      code: 'queue-full',
      message:
        'The program could not be run: the queue is full (the same program may be sent again)',
    });
  });
});

describe('the calls of a program', () => {
  it('start in program order and one after the other, under Promise.all', async () => {
    const bench = new Bench(async ({ tools }) => {
      const values = await Promise.all([1, 2, 3].map((v) => tools['echo']?.({ v })));
      return values as number[];
    });
    expect((await bench.run()).value).toEqual([1, 2, 3]);
    expect(bench.trace).toEqual([
      'start call:1 echo',
      'settle call:1 done',
      'start call:2 echo',
      'settle call:2 done',
      'start call:3 echo',
      'settle call:3 done',
    ]);
  });

  it('report a start when their turn comes, with how long they waited and took', async () => {
    const bench = new Bench(async ({ tools }) => {
      await Promise.all([tools['wait']?.(), tools['echo']?.({ v: 1 })]);
      return null;
    });
    const run = bench.run();
    await setImmediate();
    expect(bench.trace).toEqual(['start call:1 wait']);
    bench.open[0]?.resolve(null);
    await run;
    const settled = bench.events.filter(({ phase }) => phase === 'settle');
    expect(settled).toHaveLength(2);
    for (const event of settled) {
      expect(event).toMatchObject({
        parentCallId: 'call',
        durationMs: expect.any(Number) as number,
        queuedMs: expect.any(Number) as number,
      });
    }
  });

  it('reject with the message and code of a failed tool', async () => {
    const bench = new Bench(async ({ tools }) => {
      const error = await tools['fail']?.({ msg: 'x' }).catch((caught: unknown) => caught);
      const { message, code } = error as Error & { code: string };
      return [message, code];
    });
    expect((await bench.run()).value).toEqual(['x', 'E_FAIL']);
    expect(bench.trace.at(-1)).toBe('settle call:1 failed');
  });

  it('take no argument for {}, and refuse more than one', async () => {
    const bench = new Bench(async ({ tools }) => {
      await tools['echo']?.();
      const error = await tools['echo']?.({ v: 1 }, 2).catch((caught: unknown) => caught);
      return (error as Error).message;
    });
    expect((await bench.run()).value).toBe(
      'tools.echo takes one object with named fields, got 2 arguments',
    );
  });

  it('keep a snapshot of their arguments', async () => {
    const bench = new Bench(async ({ tools }) => {
      const argument = { v: 1 };
      const both = Promise.all([tools['echo']?.({ v: 0 }), tools['echo']?.(argument)]);
      argument.v = 2;
      return (await both) as number[];
    });
    expect((await bench.run()).value).toEqual([0, 1]);
  });

  it('leave images and context for after the outer result, in program order', async () => {
    const bench = new Bench(async ({ tools }) => {
      await Promise.all([tools['picture']?.({ v: 'a' }), tools['picture']?.({ v: 'b' })]);
      return 'two pictures';
    });
    const result = await bench.run();
    expect(result.content).toEqual([
      { type: 'text', text: 'two pictures' },
      { type: 'image', mediaType: 'image/png', base64: 'a' },
      { type: 'image', mediaType: 'image/png', base64: 'b' },
    ]);
    expect(result.additionalContext).toEqual(['note a', 'note b']);
  });

  it('do not reach their body when the listener of their start throws', async () => {
    const bench = new Bench(async ({ tools }) => {
      await tools['echo']?.({ v: 1 });
      return null;
    });
    let ran = false;
    bench.registry.use('tools/execute', ({ call }, next) => {
      if (call.name === 'echo') ran = true;
      return next();
    });
    const result = await bench.registry.execute(
      { id: 'call', name: 'run_code', arguments: { code: 'x' } },
      {
        signal: bench.controller.signal,
        onCodeDispatch: () => {
          throw new Error('the log is closed');
        },
      },
    );
    expect(result.error?.message).toContain('the log is closed');
    expect(ran).toBe(false);
  });

  it('wait for the listener of their start, and do not reach their body when it rejects', async () => {
    const bench = new Bench(async ({ tools }) => {
      await tools['wait']?.();
      return null;
    });
    const written = Promise.withResolvers<void>();
    const result = bench.run('x', () => written.promise);
    await setImmediate();
    expect(bench.trace).toEqual(['start call:1 wait']);
    expect(bench.open).toEqual([]);
    written.reject(new Error('the disk is full'));
    expect((await result).error?.message).toContain('the disk is full');
    expect(bench.open).toEqual([]);
    expect(bench.trace).toEqual(['start call:1 wait', 'settle call:1 not-started']);
    expect(outcomesOf(await result)).toEqual(['not-started']);
  });

  it.each(['in time', 'too late'])(
    'do not reach their body when the run ends before the listener of their start, %s',
    async (when) => {
      const bench = new Bench(async ({ tools }) => {
        void tools['wait']?.().catch(() => {});
        await setImmediate();
        return null;
      });
      const written = Promise.withResolvers<void>();
      const run = bench.run('x', () => written.promise);
      await setImmediate();
      await setImmediate();
      if (when === 'in time') written.resolve();
      const result = await run;
      written.resolve();
      await setImmediate();
      expect(bench.open).toEqual([]);
      expect(bench.trace).toEqual(['start call:1 wait', 'settle call:1 not-started']);
      expect(outcomesOf(result)).toEqual(['not-started']);
    },
  );
});

describe('the end of a run', () => {
  it('abandons what waits, stops what runs, and says which is which', async () => {
    const bench = new Bench(async ({ tools }) => {
      void tools['wait']?.().catch(() => {});
      void tools['echo']?.({ v: 1 }).catch(() => {});
      await setImmediate();
      return 'done early';
    });
    const result = await bench.run();
    expect(result.value).toBe('done early');
    expect(bench.trace).toEqual(['start call:1 wait', 'settle call:1 aborted']);
    expect(bench.open[0]?.signal.aborted).toBe(true);
    expect(outcomesOf(result)).toEqual(['aborted', 'not-started']);
  });

  it('does not wait longer than the grace for a call that ignores its signal', async () => {
    const bench = new Bench(async ({ tools }) => {
      void tools['stuck']?.().catch(() => {});
      await setImmediate();
      return null;
    });
    const result = await bench.run();
    expect(bench.trace).toEqual(['start call:1 stuck', 'settle call:1 outcome-unknown']);
    expect(outcomesOf(result)).toEqual(['outcome-unknown']);
  });

  it('awaits the calls that it stopped, also where the runtime does not', async () => {
    const bench = new Bench(
      async ({ tools }) => {
        void tools['stuck']?.().catch(() => {});
        await setImmediate();
        return null;
      },
      { graceMs: 0 },
    );
    const run = bench.run();
    await setImmediate();
    bench.open[0]?.signal.addEventListener('abort', () => {
      setTimeout(() => bench.open[0]?.resolve('cleaned up'), 5);
    });
    await run;
    expect(bench.trace).toEqual(['start call:1 stuck', 'settle call:1 aborted']);
  });

  it('settles a call once and in time, even one that a listener holds up', async () => {
    const held = Promise.withResolvers<void>();
    const bench = new Bench(async ({ tools }) => {
      void tools['echo']?.({ v: 1 }).catch(() => {});
      await setImmediate();
      return null;
    });
    bench.registry.use('tools/execute', async ({ call }, next) => {
      if (call.name === 'echo') await held.promise;
      return next();
    });
    bench.registry.use('tools/post-execute', async ({ call }, next) => {
      if (call.name === 'run_code') {
        held.resolve();
        await setImmediate();
      }
      return next();
    });
    await bench.run();
    expect(bench.trace).toEqual(['start call:1 echo', 'settle call:1 outcome-unknown']);
  });

  it('lets no event out after its result, even from a runtime that goes on', async () => {
    const bench = new Bench(async () => null);
    const { registry, runtime } = bench;
    const types: string[] = [];
    const call = { id: 'call', name: 'run_code', arguments: { code: 'x' } };
    await registry.execute(call, {
      signal: bench.controller.signal,
      onRunEvent: ({ type }) => types.push(type),
    });
    runtime.requests[0]?.onEvent?.({ type: 'log', entry: { level: 'log', text: 'late' } });
    expect(types).toEqual([]);
  });

  it('starts no call that is made after it', async () => {
    const late = Promise.withResolvers<void>();
    let refusal: unknown;
    const bench = new Bench(async ({ tools }) => {
      await late.promise;
      refusal = await tools['echo']?.({ v: 1 }).catch((error: unknown) => error);
      return null;
    });
    const run = bench.run();
    await setImmediate();
    bench.controller.abort();
    await run;
    late.resolve();
    await setImmediate();
    expect(refusal).toMatchObject({ code: 'TOOL_ABORTED' });
    expect(bench.events).toEqual([]);
  });

  it('follows the outer signal', async () => {
    const bench = new Bench(async ({ tools }) => {
      await tools['wait']?.();
      return null;
    });
    const run = bench.run();
    await setImmediate();
    bench.controller.abort();
    const result = await run;
    expect(result.error?.code).toBe('TOOL_ABORTED');
    expect(textOf(result)).toContain('The program was cancelled.');
    expect(bench.trace).toEqual(['start call:1 wait', 'settle call:1 aborted']);
  });

  it('lets no event out after its result, and settles every start, wherever it is cancelled', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('echo', 'wait', 'stuck', 'fail'), { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 0, max: 6 }),
        async (names, ticks) => {
          const bench = new Bench(async ({ tools }) => {
            await Promise.allSettled(names.map((name) => tools[name]?.({ v: 1, msg: 'x' })));
            return null;
          });
          const run = bench.run();
          for (let tick = 0; tick < ticks; tick += 1) await setImmediate();
          bench.controller.abort();
          await run;
          const count = bench.events.length;
          for (const { resolve } of bench.open) resolve(null);
          await new Promise((resolve) => setTimeout(resolve, 30));
          expect(bench.events).toHaveLength(count);
          const ids = (phase: string) =>
            bench.events.filter((event) => event.phase === phase).map(({ callId }) => callId);
          expect(ids('settle').toSorted()).toEqual(ids('start').toSorted());
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('the report of a failed run', () => {
  it('tells what happened, where, how the tool is declared, what the calls did, and what to redo', async () => {
    const bench = new Bench(async ({ tools, log }) => {
      await tools['echo']?.({ v: 1 });
      log('half way');
      await tools['fail']?.({ msg: 'no such row' });
      return null;
    });
    const result = await bench.run();
    expect(result.error).toEqual({
      code: 'CODE_RUN_FAILED',
      message:
        'The program threw an error.\nToolCallError: no such row [E_FAIL] (line 2, column 7)',
    });
    expect(textOf(result)).toBe(`\
The program threw an error.
ToolCallError: no such row [E_FAIL] (line 2, column 7)

> 2 | await tools.x();
    |       ^

The tool is declared as:
fail(input?: { [key: string]: unknown }): Promise<unknown>

Calls:
- done: tools.echo({"v":1})
- failed: tools.fail({"msg":"no such row"})

Logs:
half way

Calls that are done took effect: repeat one only where that does no harm. Calls that failed may have taken effect: look before you repeat one.`);
  });

  it.each<[string, string, { readonly v?: number }, string]>([
    ['its result does not fit', 'number_only', {}, 'failed'],
    ['it is stopped at its deadline', 'slow', {}, 'stopped'],
    ['its result is blocked', 'blocked', {}, 'failed'],
  ])('does not call a body undone because %s', async (_why, name, args, word) => {
    const bench = new Bench(async ({ tools }) => {
      await tools['denied']?.().catch(() => {});
      await tools[name]?.(args);
      return null;
    });
    registerOddTools(bench.registry);
    const text = textOf(await bench.run());
    expect(text).toContain(`- refused: tools.denied()\n- ${word}: tools.${name}({})`);
    expect(text).toMatch(/Calls that were refused did not run, and can be made again\./);
    expect(text).toMatch(/may have taken effect: look before you repeat (one|it)\.$/);
    expect(bench.trace.at(-1)).toBe(`settle call:2 ${word === 'stopped' ? 'aborted' : 'failed'}`);
  });

  it('says that nothing was carried out when every call was refused', async () => {
    const bench = new Bench(async ({ tools }) => {
      await Promise.allSettled([
        tools['denied']?.(),
        tools['asks']?.(),
        tools['typed']?.({ v: 1 }),
        tools['echo']?.({ v: 1 }, 2),
        tools['gone']?.(),
      ]);
      throw new Error('boom');
    });
    registerOddTools(bench.registry);
    const text = textOf(await bench.run());
    expect(text.match(/^- refused: /gm)).toHaveLength(5);
    expect(text).toMatch(/No call was carried out: a corrected program can be sent as a whole\.$/);
  });

  it('says that nothing was carried out when nothing was', async () => {
    const bench = new Bench(() => Promise.reject(new Error('boom')));
    expect(textOf(await bench.run())).toMatch(
      /No call was carried out: a corrected program can be sent as a whole\.$/,
    );
  });

  it('stays short, however many calls and logs there were', async () => {
    const bench = new Bench(async ({ tools, log }) => {
      for (let index = 0; index < 200; index += 1) {
        await tools['echo']?.({ v: 'x'.repeat(1_000) });
        log('y'.repeat(1_000));
      }
      throw new Error('boom');
    });
    const text = textOf(await bench.run());
    expect(text.length).toBeLessThan(15_000);
    expect(text).toContain('- the first 170: 170 done');
    expect(text).toMatch(/characters omitted/);
  });
});
