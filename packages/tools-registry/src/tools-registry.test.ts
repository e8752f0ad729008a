import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { ToolMiddleware } from './execution/tool-execution.ts';
import { ScriptedRuntime } from './testing/scripted-runtime.ts';
import { ToolsRegistry } from './tools-registry.ts';
import type { ToolsRegistryOptions } from './tools-registry.ts';
import type { ToolDefinition } from './tool.ts';
import { toolResult } from './tool-result.ts';

const signal = new AbortController().signal;
const runtime = new ScriptedRuntime(() => Promise.resolve(null));
const objectSchema = { type: 'object', properties: { a: { type: 'number' } } };
const add: ToolDefinition = {
  name: 'add',
  description: 'Adds.',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
  execute: ({ a, b }) => Number(a) + Number(b),
};

function tool(name: string, change: Partial<ToolDefinition> = {}): ToolDefinition {
  return { name, description: name, inputSchema: objectSchema, execute: () => name, ...change };
}
function registryOf(definition: ToolDefinition, options: ToolsRegistryOptions = {}): ToolsRegistry {
  const registry = new ToolsRegistry(options);
  registry.register(definition);
  return registry;
}
function rejectsOnAbort(_input: unknown, context: { readonly signal: AbortSignal }) {
  return new Promise((_resolve, reject) => {
    context.signal.addEventListener('abort', () => reject(new Error('stopped')));
  });
}
function call(name: string, args: unknown = {}) {
  return { id: '1', name, arguments: args as Record<string, never> };
}

describe('ToolsRegistry.register', () => {
  it('answers with an undo that works once and only for its own tool', () => {
    const registry = new ToolsRegistry();
    const undo = registry.register(add);
    undo();
    registry.register(add);
    undo();
    expect(registry.present().wireTools).toHaveLength(1);
  });

  it('refuses a name that is taken, and one that is reserved beside programs', () => {
    const registry = registryOf(add, { mode: 'code', runtime });
    expect(() => registry.register(add)).toThrow('"add" is already registered');
    expect(() => registry.register(tool('run_code'))).toThrow(/reserved in mode `code`/);
    expect(() => registry.register(tool('then'))).toThrow(/reserved/);
    expect(() => registryOf(tool('run_code'))).not.toThrow();
  });
});

describe('ToolsRegistry.present', () => {
  it('puts the tools on the wire, sorted, in native mode', () => {
    const registry = registryOf(tool('b'));
    registry.register(tool('a'));
    const { wireTools, promptSection } = registry.present();
    expect(wireTools).toEqual([
      { name: 'a', description: 'a', inputSchema: objectSchema },
      { name: 'b', description: 'b', inputSchema: objectSchema },
    ]);
    expect(promptSection).toBeUndefined();
  });

  it('puts exactly run_code on the wire in code mode, and both in mode both', () => {
    const code = registryOf(add, { mode: 'code', runtime }).present();
    expect(code.wireTools.map(({ name }) => name)).toEqual(['run_code']);
    expect(code.promptSection).toContain('add(input: { a: number; b: number })');
    const both = registryOf(add, { mode: 'both', runtime }).present();
    expect(both.wireTools.map(({ name }) => name)).toEqual(['add', 'run_code']);
  });

  it('fails every time for a mode with programs without a TypeScript runtime', () => {
    const registry = registryOf(add, { mode: 'code' });
    for (let time = 0; time < 2; time += 1) {
      expect(() => registry.present()).toThrow(/`runtime` in mode `code`/);
    }
    const python = { ...runtime, language: 'python' } as never;
    expect(() => registryOf(add, { mode: 'code', runtime: python }).present()).toThrow(/python/);
  });

  it('fails every time for a configured name without a tool, and leaves out what is not configured', () => {
    const registry = registryOf(add, { tools: ['add', 'grep'] });
    for (let time = 0; time < 2; time += 1) {
      expect(() => registry.present()).toThrow('configured "grep"');
    }
    registry.register(tool('grep'));
    registry.register(tool('other'));
    expect(registry.present().wireTools.map(({ name }) => name)).toEqual(['add', 'grep']);
  });

  it('follows the tool set', () => {
    const registry = registryOf(add, { mode: 'code', runtime });
    const before = registry.present();
    expect(registry.present()).toBe(before);
    const undo = registry.register(tool('more'));
    expect(registry.present().promptSection).toContain('more(');
    undo();
    expect(registry.present()).toEqual(before);
  });

  it('refuses options that are none', () => {
    expect(() => new ToolsRegistry({ mode: 'fast' as never })).toThrow(/one of native, code, both/);
    expect(() => new ToolsRegistry({ limits: { cpuMs: -1 } })).toThrow(/cpuMs/);
    expect(() => new ToolsRegistry({ abortGraceMs: 1.5 })).toThrow(/abortGraceMs/);
  });

  it('tells which schema is shown or checked only in part', () => {
    const registry = registryOf(tool('odd', { inputSchema: { properties: { a: { type: 'x' } } } }));
    expect(registry.diagnostics()).toEqual([
      expect.objectContaining({ toolName: 'odd', schema: 'input', path: '#/properties/a/type' }),
    ]);
  });
});

describe('ToolsRegistry.execute', () => {
  it('carries a call out', async () => {
    expect(await registryOf(add).execute(call('add', { a: 1, b: 2 }), { signal })).toEqual({
      isError: false,
      content: [{ type: 'text', text: '3' }],
      value: 3,
    });
  });

  it('names the nearest tool for an unknown one', async () => {
    const result = await registryOf(add).execute(call('Add_'), { signal });
    expect(result.error).toEqual({
      code: 'UNKNOWN_TOOL',
      message: 'There is no tool "Add_". Did you mean "add"?',
    });
  });

  it('refuses a direct call of what is not on the wire, with the route', async () => {
    const registry = registryOf(tool('get-user'), { mode: 'code', runtime });
    const result = await registry.execute(call('get-user'), { signal });
    expect(result.error?.code).toBe('TOOL_NOT_ADVERTISED');
    expect(result.error?.message).toContain('call it from run_code as tools["get-user"](…)');
  });

  it.each([
    [{ a: 'x', b: 1 }, '$.a: expected number, received "x"'],
    [{ a: 1 }, '$.b: expected number, received nothing'],
    [[1, 2], '$: expected one object with named fields'],
    [null, '$: expected one object with named fields'],
    [{ a: 1n }, '$.a: a BigInt is not JSON'],
  ])('keeps the invalid arguments %o from the body', async (args, message) => {
    const registry = registryOf({ ...add, execute: () => expect.unreachable() });
    const result = await registry.execute(call('add', args), { signal });
    expect(result.error?.code).toBe('INVALID_ARGUMENTS');
    expect(result.error?.message).toContain(message);
  });

  it('gives the body arguments of its own', async () => {
    const args = Object.freeze({ a: 1 });
    const registry = registryOf(tool('t', { execute: (input) => (input['a'] = 2) }));
    expect((await registry.execute(call('t', args), { signal })).value).toBe(2);
    expect(args).toEqual({ a: 1 });
  });

  it('fails a call whose result breaks the output schema, and says that the tool ran', async () => {
    const registry = registryOf(tool('t', { outputSchema: { type: 'number' } }));
    const result = await registry.execute(call('t'), { signal });
    expect(result.error?.code).toBe('INVALID_OUTPUT');
    expect(result.error?.message).toBe(
      '`t` ran, but its result does not fit its output schema:\n- $: expected number, received "t"',
    );
  });

  it('stops a body at its deadline, and says so', async () => {
    const registry = registryOf(tool('slow', { timeoutMs: 5, execute: rejectsOnAbort }));
    const result = await registry.execute(call('slow'), { signal });
    expect(result.error).toEqual({
      code: 'TOOL_TIMEOUT',
      message: '`slow` did not answer within 5 ms and was stopped.',
    });
  });

  it('says that the outcome is unknown when a body does not stop', async () => {
    const stuck = tool('stuck', { timeoutMs: 5, execute: () => new Promise(() => {}) });
    const registry = registryOf(stuck, { abortGraceMs: 5 });
    const result = await registry.execute(call('stuck'), { signal });
    expect(result.error?.message).toMatch(
      /did not stop within 5 ms, so whether it took effect is unknown/,
    );
  });

  it('gives a program its grace however long that is', async () => {
    const controller = new AbortController();
    const settling = Promise.withResolvers<null>();
    const registry = registryOf(add, {
      mode: 'code',
      runtime: new ScriptedRuntime(() => settling.promise),
      abortGraceMs: 2 ** 31 - 1,
    });
    const setTimer = vi.spyOn(globalThis, 'setTimeout');
    const run = registry.execute(call('run_code', { code: 'x' }), { signal: controller.signal });
    await setImmediate();
    controller.abort();
    await run;
    const delays = setTimer.mock.calls.map(([, delayMs]) => Number(delayMs));
    setTimer.mockRestore();
    // Above it a timer fires at once.
    expect(Math.max(...delays)).toBe(2 ** 31 - 1);
  });

  it('does not start the body of a call that is cancelled already', async () => {
    const registry = registryOf(tool('t', { execute: () => expect.unreachable() }));
    const result = await registry.execute(call('t'), { signal: AbortSignal.abort() });
    expect(result.error?.code).toBe('TOOL_ABORTED');
  });
});

describe('the chains of a call', () => {
  it('pass in order: before, around, after', async () => {
    const registry = registryOf(tool('t', { execute: () => trace.push('body') }));
    const trace: string[] = [];
    registry.use('tools/post-execute', (_context, next) => (trace.push('post'), next()));
    registry.use('tools/execute', (_context, next) => (trace.push('around'), next()));
    registry.use('tools/pre-execute', (_context, next) => (trace.push('pre 2'), next()));
    registry.use('tools/pre-execute', (_context, next) => (trace.push('pre 1'), next()), {
      prepend: true,
    });
    await registry.execute(call('t'), { signal });
    expect(trace).toEqual(['pre 1', 'pre 2', 'around', 'body', 'post']);
  });

  it('reach post-execute after a denial, without the body', async () => {
    const registry = registryOf(tool('t', { execute: () => expect.unreachable() }));
    let seen: unknown;
    registry.use('tools/pre-execute', () =>
      Promise.resolve({ decision: 'deny', reason: 'read only' }),
    );
    registry.use('tools/post-execute', (context, next) => {
      seen = context.result.error?.code;
      return next();
    });
    const result = await registry.execute(call('t'), { signal });
    expect(result.error).toEqual({
      code: 'TOOL_DENIED',
      message: 'The call was denied: read only',
    });
    expect(seen).toBe('TOOL_DENIED');
  });

  it.each<keyof ToolMiddleware>(['tools/pre-execute', 'tools/execute', 'tools/post-execute'])(
    'make a failed call of a throwing %s listener, never a rejection',
    async (name) => {
      const registry = registryOf(add);
      registry.use(name, () => Promise.reject(new Error('broken listener')));
      const result = await registry.execute(call('add', { a: 1, b: 2 }), { signal });
      expect(result.error).toEqual({ code: 'TOOL_FAILED', message: 'broken listener' });
    },
  );

  it.each<keyof ToolMiddleware>(['tools/pre-execute', 'tools/execute', 'tools/post-execute'])(
    'make a failed call of a %s listener that answers with nothing',
    async (name) => {
      const registry = registryOf(add);
      registry.use(name, (() => Promise.resolve()) as never);
      const result = await registry.execute(call('add', { a: 1, b: 2 }), { signal });
      expect(result.error?.message).toContain(`Expected a \`${name}\` listener to answer with`);
    },
  );

  it('let post-execute replace the content, for the model and for a program', async () => {
    const registry = registryOf(tool('t', { execute: () => ({ secret: 1 }) }));
    registry.use('tools/post-execute', () =>
      Promise.resolve({
        decision: 'accept',
        content: [{ type: 'text', text: 'redacted' }],
        additionalContext: ['note'],
      }),
    );
    expect(await registry.execute(call('t'), { signal })).toEqual({
      isError: false,
      content: [{ type: 'text', text: 'redacted' }],
      value: 'redacted',
      additionalContext: ['note'],
    });
  });

  it('let post-execute block a result', async () => {
    const registry = registryOf(tool('t', { execute: () => 'poisoned' }));
    registry.use('tools/post-execute', () =>
      Promise.resolve({ decision: 'block', feedback: 'not for you' }),
    );
    const result = await registry.execute(call('t'), { signal });
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result)).not.toContain('poisoned');
    expect(result.content).toEqual([{ type: 'text', text: 'not for you' }]);
  });

  it('show listeners a result and arguments that they cannot change', async () => {
    const registry = registryOf(tool('t', { execute: () => ({ list: [1] }) }));
    let frozen: readonly boolean[] = [];
    registry.use('tools/post-execute', ({ result, call: { arguments: args } }, next) => {
      frozen = [result, result.content, result.value, args].map(Object.isFrozen);
      return next();
    });
    await registry.execute(call('t', { a: 1 }), { signal });
    expect(frozen).toEqual([true, true, true, true]);
  });

  it('give the signal back after a wrapper narrowed it', async () => {
    const registry = registryOf(
      tool('t', { execute: (_input, context) => context.signal.aborted }),
    );
    const narrow = AbortSignal.abort();
    const signals: AbortSignal[] = [];
    registry.use('tools/execute', (execution, next) => {
      execution.signal = narrow;
      return next();
    });
    registry.use('tools/post-execute', (execution, next) => {
      signals.push(execution.signal);
      return next();
    });
    const result = await registry.execute(call('t'), { signal });
    expect(result.error?.code).toBe('TOOL_ABORTED');
    expect(signals).toEqual([signal]);
  });

  it('lose a listener to its undo, even one that was added twice', async () => {
    const registry = registryOf(add);
    let count = 0;
    const listener: ToolMiddleware['tools/execute'] = (_execution, next) => {
      count += 1;
      return next();
    };
    const undo = registry.use('tools/execute', listener);
    registry.use('tools/execute', listener);
    undo();
    undo();
    await registry.execute(call('add', { a: 1, b: 2 }), { signal });
    expect(count).toBe(1);
    expect(() => registry.use('tools/nope' as never, listener as never)).toThrow(
      /tools\/pre-execute/,
    );
  });
});

describe('approval', () => {
  const guarded = tool('rm', { approval: ({ a }) => a === 1, execute: () => 'gone' });

  it('denies with its own text and code when nobody is there to ask', async () => {
    const result = await registryOf(guarded).execute(call('rm', { a: 1 }), { signal });
    expect(result.error?.code).toBe('APPROVAL_UNAVAILABLE');
    expect(result.error?.message).toContain('nobody is there to give it');
    expect((await registryOf(guarded).execute(call('rm'), { signal })).value).toBe('gone');
  });

  it('asks, and follows the answer', async () => {
    const reasons: string[] = [];
    let approved = true;
    const approve: NonNullable<ToolsRegistryOptions['approve']> = (_execution, reason) => {
      reasons.push(reason);
      return Promise.resolve({ approved, ...(approved ? {} : { reason: 'not today' }) });
    };
    const registry = registryOf(guarded, { approve });
    expect((await registry.execute(call('rm', { a: 1 }), { signal })).value).toBe('gone');
    approved = false;
    const refused = await registry.execute(call('rm', { a: 1 }), { signal });
    expect(refused.error).toEqual({
      code: 'TOOL_DENIED',
      message: 'The call was not made: approval was refused: not today',
    });
    expect(reasons).toEqual(['calls of rm need approval', 'calls of rm need approval']);
  });

  it('asks nobody about arguments that do not fit', async () => {
    const registry = registryOf(guarded, { approve: () => expect.unreachable() });
    const result = await registry.execute(call('rm', { a: 'x' }), { signal });
    expect(result.error?.code).toBe('INVALID_ARGUMENTS');
  });

  it('ends with the call when it is cancelled while waiting', async () => {
    const controller = new AbortController();
    const registry = registryOf(guarded, { approve: () => new Promise(() => {}) });
    const result = registry.execute(call('rm', { a: 1 }), { signal: controller.signal });
    await setImmediate();
    controller.abort();
    expect((await result).error?.code).toBe('TOOL_ABORTED');
  });
});

describe('ToolsRegistry.executeBatch', () => {
  it('runs a batch in order, with results in the order of the calls', async () => {
    const trace: string[] = [];
    const registry = registryOf(
      tool('write', {
        execute: async ({ a }) => {
          trace.push(`in ${String(a)}`);
          await setImmediate();
          trace.push(`out ${String(a)}`);
          return a;
        },
      }),
    );
    const calls = [call('write', { a: 1 }), call('nope'), call('write', { a: 2 })];
    const results = await registry.executeBatch(calls, { signal });
    expect(results.map(({ value, error }) => value ?? error?.code)).toEqual([1, 'UNKNOWN_TOOL', 2]);
    expect(trace).toEqual(['in 1', 'out 1', 'in 2', 'out 2']);
  });

  it('tells each result as it comes, and how long the call itself took', async () => {
    const gate = Promise.withResolvers<void>();
    const registry = registryOf(tool('slow', { parallelSafe: true, execute: () => gate.promise }));
    registry.register(tool('fast', { parallelSafe: true, execute: () => 1 }));
    const told: string[] = [];
    const calls = [call('slow'), call('fast')];
    const results = await registry.executeBatch(calls, {
      signal,
      onResult: (settled, result, durationMs) => {
        told.push(`${settled.name} ${result.error?.code ?? 'done'} ${durationMs >= 0}`);
        gate.resolve();
      },
    });
    expect(told).toEqual(['fast done true', 'slow done true']);
    expect(results.map(({ isError }) => isError)).toEqual([false, false]);
  });

  it('does not start what waits when the batch is cancelled', async () => {
    const controller = new AbortController();
    const registry = registryOf(
      tool('t', { execute: () => (controller.abort(), toolResult({ content: 'ran' })) }),
    );
    const results = await registry.executeBatch([call('t'), call('t')], {
      signal: controller.signal,
    });
    expect(results[0]?.value).toBe('ran');
    expect(results[1]?.error).toEqual({
      code: 'TOOL_ABORTED',
      message: 'The call was cancelled before it started.',
    });
  });
});
