import { MAX_JSON_DEPTH, type CodeRunEvent, type JsonValue } from '@carrel/code-runtime';
import { toolResult } from '@carrel/tools-registry';
import { describe, expect, it } from 'vitest';
import { calls, finish, newAgent, registryOf, TestModel } from './testing/new-agent.ts';
import { programRuntime } from './testing/program-runtime.ts';

const text = (content: unknown): string => JSON.stringify(content);

describe('the calls of an answer', () => {
  it('are all in the log before the first body runs', async () => {
    const model = new TestModel([calls('1', 'tool', { n: 1 }), calls('2', 'tool'), finish()]);
    let durable: readonly string[] = [];
    const tools = registryOf([
      {
        execute: () => {
          if (durable.length === 0) durable = store.read(agent.sessionId).map(({ type }) => type);
        },
      },
    ]);
    const { agent, store, types } = await newAgent({ model, tools });
    await agent.send('one');
    expect(durable.slice(-3)).toEqual(['assistant/message', 'tool/call', 'tool/call']);
    expect(types().slice(6, 11)).toEqual([
      'tool/call',
      'tool/call',
      'tool/result',
      'tool/result',
      'step/end',
    ]);
  });

  it('have their results in the order of the model, though they settle in another', async () => {
    const first = Promise.withResolvers<string>();
    const model = new TestModel([calls('1', 'slow'), calls('2', 'quick'), finish()]);
    const tools = registryOf([
      { name: 'slow', parallelSafe: true, execute: () => first.promise },
      { name: 'quick', parallelSafe: true, execute: () => first.resolve('after the quick one') },
    ]);
    const { agent, data } = await newAgent({ model, tools });
    await agent.send('one');
    expect(data('tool/result').map(({ callId }) => callId)).toEqual(['1', '2']);
    for (const { durationMs } of data('tool/result')) expect(durationMs).toBeGreaterThanOrEqual(0);
  });

  it('leave what tools have to tell besides after all their results', async () => {
    const model = new TestModel([calls('1', 'tool'), calls('2', 'tool'), finish()]);
    const tools = registryOf([
      { execute: (_, { callId }) => toolResult({ additionalContext: [`of ${callId}`] }) },
    ]);
    const { agent, types, data } = await newAgent({ model, tools });
    await agent.send('one');
    expect(types().slice(8, 13)).toEqual([
      'tool/result',
      'tool/result',
      'context/message',
      'context/message',
      'step/end',
    ]);
    expect(data('context/message')).toEqual([
      { source: 'tool', text: 'of 1' },
      { source: 'tool', text: 'of 2' },
    ]);
    expect(model.requests[1]?.messages.at(-1)).toEqual({
      role: 'user',
      text: '<context source="tool">\nof 2\n</context>',
    });
  });

  it('that fail or name no tool are answered, and the loop goes on', async () => {
    const model = new TestModel([calls('1', 'tool'), calls('2', 'other'), finish()]);
    const tools = registryOf([{ execute: () => Promise.reject(new Error('no disk')) }]);
    const { agent, data } = await newAgent({ model, tools });
    expect(await agent.send('one')).toEqual({ type: 'completed' });
    expect(data('tool/result').map(({ isError, error }) => [isError, error])).toEqual([
      [true, { code: 'TOOL_FAILED', message: 'no disk' }],
      [true, { code: 'UNKNOWN_TOOL', message: expect.stringContaining('other') as string }],
    ]);
    expect(model.requests).toHaveLength(2);
  });

  it('whose arguments are not JSON, or no object, are answered with the problem and not run', async () => {
    const seen: unknown[] = [];
    const model = new TestModel([
      { type: 'invalid-tool-call', id: '1', name: 'tool', argumentsText: '{"a": tru' },
      calls('2', 'tool', { a: 2 }),
      calls('3', 'tool', [3]),
      calls('4', 'tool', { deep: nested(600) }),
      calls('5', 'tool', { a: -0 }),
      finish('tool-calls'),
    ]);
    const tools = registryOf([{ execute: (input) => void seen.push(input) }]);
    const { agent, data } = await newAgent({ model, tools });
    expect(await agent.send('one')).toEqual({ type: 'completed' });
    expect(seen).toEqual([{ a: 2 }, { a: 0 }]);
    expect(data('tool/call').map(({ arguments: args }) => args)).toEqual([
      '{"a": tru',
      { a: 2 },
      '[3]',
      {},
      { a: 0 },
    ]);
    const results = data('tool/result');
    expect(results.map(({ isError }) => isError)).toEqual([true, false, true, true, false]);
    expect(text(results[0]?.content)).toMatch(/`tool` are not JSON \(.*\).*They were: \{/);
    expect(text(results[2]?.content)).toContain('are not an object');
    expect(text(results[3]?.content)).toContain('nested deeper');
    const [answer] = data('assistant/message');
    const sent = answer?.content.map((part) => (part.type === 'tool-call' ? part.arguments : null));
    expect(sent).toEqual([{}, { a: 2 }, {}, {}, { a: 0 }]);
  });

  it('get ids of their own when the model gives two the same', async () => {
    const model = new TestModel([calls('1', 'tool'), calls('1', 'tool'), finish()]);
    const { agent, data } = await newAgent({ model, tools: registryOf([{}]) });
    await agent.send('one');
    expect(data('tool/result').map(({ callId }) => callId)).toEqual(['1', '1_2']);
    const ids = model.requests[1]?.messages.map((message) =>
      message.role === 'tool' ? message.callId : '',
    );
    expect(ids).toEqual(['', '', '1', '1_2']);
  });

  it('may have the ids of earlier answers again', async () => {
    const answer = [calls('call_0', 'tool'), finish()];
    const model = new TestModel(answer, answer);
    const { agent } = await newAgent({ model, tools: registryOf([{}]) });
    expect(await agent.send('one')).toEqual({ type: 'completed' });
    expect(model.requests[2]?.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
    ]);
  });

  it('are answered though a registry breaks its promise not to reject', async () => {
    const model = new TestModel([calls('1', 'tool'), calls('2', 'tool'), finish()]);
    const tools = {
      present: () => registryOf([{}]).present(),
      executeBatch: () => Promise.reject(new Error('broken')),
    };
    const { agent, data } = await newAgent({ model, tools });
    expect(await agent.send('one')).toEqual({ type: 'completed' });
    expect(data('tool/result').map(({ error }) => error?.message)).toEqual([
      'The call failed: broken',
      'The call failed: broken',
    ]);
  });
});

describe('a program', () => {
  const add = {
    name: 'add',
    execute: ({ a, b }: Record<string, JsonValue>) => Number(a) + Number(b),
  };

  it('has its calls in the log as they come, and its journal with its result', async () => {
    const runtime = programRuntime(async (tools) => {
      await tools['add']?.({ a: 1, b: 2 });
      return (await tools['add']?.({ a: 3, b: 4 })) ?? null;
    });
    const model = new TestModel([calls('p', 'run_code', { code: 'the program' }), finish()]);
    const tools = registryOf([add], { mode: 'code', runtime });
    const { agent, types, data } = await newAgent({ model, tools });
    expect(await agent.send('one')).toEqual({ type: 'completed' });
    expect(types().slice(6, 13)).toEqual([
      'tool/call',
      ...Array<string>(4).fill('tool/code-dispatch'),
      'tool/result',
      'step/end',
    ]);
    expect(data('tool/code-dispatch').map(({ phase, callId }) => [phase, callId])).toEqual([
      ['start', 'p:1'],
      ['settle', 'p:1'],
      ['start', 'p:2'],
      ['settle', 'p:2'],
    ]);
    expect(data('tool/result')[0]).toMatchObject({
      content: [{ type: 'text', text: '7' }],
      journal: { program: 'the program' },
    });
    expect(model.requests[0]?.system[0]).toContain('add');
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['run_code']);
    expect(text(model.requests[1]?.messages)).not.toContain('journal');
  });

  it('tells what it does with the id of its own call, beside other calls', async () => {
    const runtime = programRuntime(() => Promise.resolve(null));
    const model = new TestModel([
      calls('a', 'add', { a: 1, b: 1 }),
      calls('p', 'run_code', { code: 'first' }),
      calls('q', 'run_code', { code: 'second' }),
      calls('b', 'add', { a: 1, b: 1 }),
      finish(),
    ]);
    const heard: unknown[] = [];
    const { agent, data } = await newAgent({
      model,
      tools: registryOf([add], { mode: 'both', runtime }),
      onRunEvent: (event: CodeRunEvent, callId: string) => {
        heard.push([callId, event.type === 'log' ? event.entry.text : event.type]);
      },
    });
    await agent.send('one');
    expect(heard).toEqual([
      ['p', 'first'],
      ['q', 'second'],
    ]);
    expect(data('tool/result').map(({ callId }) => callId)).toEqual(['a', 'p', 'q', 'b']);
    expect(data('tool/result').map(({ journal }) => journal?.program)).toEqual([
      undefined,
      'first',
      'second',
      undefined,
    ]);
  });

  it('may hand over and get back the deepest values there are', async () => {
    const deepest = { value: nested(MAX_JSON_DEPTH - 1) };
    const runtime = programRuntime(async (tools) => {
      await tools['deep']?.(deepest);
      return 'went on';
    });
    const deep = { name: 'deep', execute: () => nested(MAX_JSON_DEPTH) };
    const model = new TestModel([calls('p', 'run_code', { code: '' }), finish()]);
    const { agent, data } = await newAgent({
      model,
      tools: registryOf([deep], { mode: 'code', runtime }),
    });
    expect(await agent.send('one')).toEqual({ type: 'completed' });
    const [start, settle] = data('tool/code-dispatch');
    expect(start).toMatchObject({ phase: 'start', arguments: deepest });
    expect(settle).toMatchObject({ phase: 'settle', outcome: 'done' });
  });

  it('has no journal when it is a native tool that only has the name', async () => {
    const model = new TestModel([calls('1', 'run_code'), finish()]);
    const tools = registryOf([
      {
        name: 'run_code',
        execute: () => toolResult({ content: 'a', details: { journal: 'mine' } }),
      },
    ]);
    const { agent, data } = await newAgent({ model, tools });
    await agent.send('one');
    expect(data('tool/result')[0]).not.toHaveProperty('journal');
  });

  it('that is cancelled has an answer, and its open call is settled before it', async () => {
    const inside = Promise.withResolvers<void>();
    const runtime = programRuntime(async (tools, signal) => {
      const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
      await Promise.race([tools['wait']?.({}), aborted]);
      throw new Error('the run was aborted');
    });
    const wait = {
      name: 'wait',
      execute: async (_: unknown, { signal }: { readonly signal: AbortSignal }) => {
        inside.resolve();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        throw new Error('stopped');
      },
    };
    const model = new TestModel([calls('p', 'run_code', { code: '' }), finish()]);
    const tools = registryOf([wait], { mode: 'code', runtime, abortGraceMs: 20 });
    const { agent, types, data } = await newAgent({ model, tools });
    const turn = agent.send('one');
    await inside.promise;
    agent.cancel('enough');
    expect(await turn).toEqual({ type: 'aborted', cause: 'enough' });
    expect(types().slice(-5)).toEqual([
      'tool/code-dispatch',
      'tool/code-dispatch',
      'tool/result',
      'step/end',
      'turn/end',
    ]);
    expect(data('tool/code-dispatch')[1]).toMatchObject({ phase: 'settle', outcome: 'aborted' });
    expect(data('tool/result')[0]?.isError).toBe(true);
  });
});

function nested(depth: number): JsonValue {
  let value: JsonValue = 1;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}
