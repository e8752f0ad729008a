import { ToolsRegistry } from '@carrel/tools-registry';
import { describe, expect, it } from 'vitest';
import type { ModelStreamPart } from '../models/model.ts';
import { calls, finish, newAgent, registryOf, says, TestModel } from './testing/new-agent.ts';
import type { TestAgent } from './testing/new-agent.ts';

const ABORTED = { type: 'aborted', cause: 'the user left' };

function expectBalanced({ agent, data, store }: TestAgent): void {
  expect(data('turn/end')).toHaveLength(data('turn/start').length);
  expect(data('step/end')).toEqual(data('step/start'));
  expect(data('tool/result').map(({ callId }) => callId)).toEqual(
    data('tool/call').map(({ callId }) => callId),
  );
  expect(store.read(agent.sessionId)).toEqual(agent.events);
}

describe('a cancel', () => {
  it('does nothing when idle, and does not wait for the next turn', async () => {
    const { agent } = await newAgent();
    agent.cancel();
    expect(await agent.send('one')).toEqual({ type: 'completed' });
    agent.cancel();
    expect(await agent.send('two')).toEqual({ type: 'completed' });
  });

  it('right after a send ends the turn before it sends anything', async () => {
    const model = new TestModel();
    const made = await newAgent({ model });
    const turn = made.agent.send('one');
    made.agent.cancel('the user left');
    made.agent.cancel('a later cause');
    expect(await turn).toEqual(ABORTED);
    expect(made.types()).toEqual(['session/start', 'turn/start', 'user/message', 'turn/end']);
    expect(model.requests).toEqual([]);
    expectBalanced(made);
  });

  it('right after a send comes before a tool set that is misconfigured, and before hooks', async () => {
    let entered = false;
    const made = await newAgent({
      tools: new ToolsRegistry({ tools: ['missing'] }),
      hooks: [
        {
          'system-prompt/assemble': (next) => {
            entered = true;
            return next();
          },
        },
      ],
    });
    const turn = made.agent.send('one');
    made.agent.cancel('the user left');
    expect(await turn).toEqual(ABORTED);
    expect(entered).toBe(false);
    expectBalanced(made);
  });

  it('ends only the turn that runs: what waits is taken up', async () => {
    const made = await newAgent();
    const turns = [made.agent.send('one'), made.agent.send('two')];
    made.agent.cancel('the user left');
    expect(await Promise.all(turns)).toEqual([ABORTED, { type: 'completed' }]);
    expectBalanced(made);
  });

  it.each(['answers', 'throws', 'hangs'])(
    'while a hook assembles opens no step, though the hook %s afterwards',
    async (what) => {
      const entered = Promise.withResolvers<void>();
      const leave = Promise.withResolvers<void>();
      const model = new TestModel();
      const made = await newAgent({
        model,
        hooks: [
          {
            'system-prompt/assemble': async (next) => {
              entered.resolve();
              await leave.promise;
              if (what === 'throws') throw new Error('cut off');
              return next();
            },
          },
        ],
      });
      const turn = made.agent.send('one');
      await entered.promise;
      made.agent.cancel('the user left');
      if (what !== 'hangs') leave.resolve();
      expect(await turn).toEqual(ABORTED);
      expect(made.types()).toEqual(['session/start', 'turn/start', 'user/message', 'turn/end']);
      expect(model.requests).toEqual([]);
      expectBalanced(made);
    },
  );

  it('while the header is made durable sends nothing', async () => {
    const model = new TestModel();
    const made = await newAgent({
      model,
      onEvent: ({ type }) => {
        if (type === 'request/header') made.agent.cancel('the user left');
      },
    });
    expect(await made.agent.send('one')).toEqual(ABORTED);
    expect(model.requests).toEqual([]);
    expectBalanced(made);
  });

  it.each(['fails', 'hangs', 'goes on'])(
    'while the model streams keeps the text, though the model %s',
    async (what) => {
      const streaming = Promise.withResolvers<void>();
      const never = Promise.withResolvers<never>();
      const model = new TestModel(
        async function* (_request, signal): AsyncGenerator<ModelStreamPart> {
          yield { type: 'reasoning-delta', text: 'hm' };
          yield { type: 'text-delta', text: 'Seen' };
          yield calls('1', 'tool');
          streaming.resolve();
          if (what === 'hangs') await never.promise;
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          if (what === 'fails') throw new Error('aborted');
          yield { type: 'text-delta', text: ' and unseen' };
          yield finish();
        },
      );
      const made = await newAgent({ model, tools: registryOf([{}]) });
      const turn = made.agent.send('one');
      await streaming.promise;
      made.agent.cancel('the user left');
      expect(await turn).toEqual(ABORTED);
      expect(made.data('assistant/message')).toEqual([
        {
          content: [
            { type: 'reasoning', text: 'hm' },
            { type: 'text', text: 'Seen' },
          ],
          finishReason: 'interrupted',
        },
      ]);
      expect(made.types()).not.toContain('request/error');
      expect(made.types()).not.toContain('tool/call');
      expectBalanced(made);
      await made.agent.send('two');
      expect(model.requests[1]?.messages[1]).toMatchObject({ role: 'assistant' });
    },
  );

  it('from a listener of the text is no failure of a model that throws at once then', async () => {
    const model = new TestModel();
    const parts: ModelStreamPart[] = [{ type: 'text-delta', text: 'Seen' }];
    model.stream = (_request, signal) =>
      ({
        [Symbol.asyncIterator]: () => ({
          next: () => {
            signal.throwIfAborted();
            const value = parts.shift() ?? finish();
            return Promise.resolve({ done: false, value });
          },
        }),
      }) as ReturnType<TestModel['stream']>;
    const made = await newAgent({
      model,
      onEvent: ({ type }) => {
        if (type === 'assistant/chunk') made.agent.cancel('the user left');
      },
    });
    expect(await made.agent.send('one')).toEqual(ABORTED);
    expect(made.data('assistant/message')[0]?.finishReason).toBe('interrupted');
    expect(made.types()).not.toContain('request/error');
    expectBalanced(made);
  });

  it('before the model has said anything leaves no answer', async () => {
    const streaming = Promise.withResolvers<void>();
    const model = new TestModel(async function* (_request, signal) {
      streaming.resolve();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      const error = { code: 'aborted', message: 'Aborted.', retryable: false } as const;
      yield { type: 'error', error };
    });
    const made = await newAgent({ model });
    const turn = made.agent.send('one');
    await streaming.promise;
    made.agent.cancel('the user left');
    expect(await turn).toEqual(ABORTED);
    expect(made.types()).not.toContain('assistant/message');
    expect(made.types()).not.toContain('request/error');
    expectBalanced(made);
  });

  it('in a tool answers every call, those that were not started too', async () => {
    const inside = Promise.withResolvers<void>();
    const started: unknown[] = [];
    const model = new TestModel([
      calls('1', 'tool', { n: 1 }),
      calls('2', 'tool', { n: 2 }),
      { type: 'invalid-tool-call', id: '3', name: 'tool', argumentsText: '{' },
      calls('4', 'tool', { n: 4 }),
      finish(),
    ]);
    const tools = registryOf([
      {
        execute: async (input, { signal }) => {
          started.push(input);
          inside.resolve();
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          throw new Error('stopped');
        },
      },
    ]);
    const made = await newAgent({ model, tools });
    const turn = made.agent.send('one');
    await inside.promise;
    made.agent.cancel('the user left');
    expect(await turn).toEqual(ABORTED);
    expect(started).toEqual([{ n: 1 }]);
    const results = made.data('tool/result');
    expect(results.map(({ error }) => error?.code)).toEqual([
      'TOOL_ABORTED',
      'TOOL_ABORTED',
      // Cancelled or not, it could not have run.
      'INVALID_ARGUMENTS',
      'TOOL_ABORTED',
    ]);
    for (const { content } of results.slice(1)) {
      expect(JSON.stringify(content)).toMatch(/not called|not started|before it started/);
    }
    expectBalanced(made);
    await made.agent.send('two');
    const roles = model.requests[1]?.messages.map(({ role }) => role);
    expect(roles).toEqual(['user', 'assistant', 'tool', 'tool', 'tool', 'tool', 'user']);
  });

  it('while calls are made durable runs none of them', async () => {
    let ran = false;
    const model = new TestModel([calls('1', 'tool'), finish()]);
    const made = await newAgent({
      model,
      tools: registryOf([{ execute: () => (ran = true) }]),
      onEvent: ({ type }) => {
        if (type === 'tool/call') made.agent.cancel('the user left');
      },
    });
    expect(await made.agent.send('one')).toEqual(ABORTED);
    expect(ran).toBe(false);
    expect(JSON.stringify(made.data('tool/result'))).toContain('not started');
    expectBalanced(made);
  });

  it('between two steps opens no other one', async () => {
    const model = new TestModel([calls('1', 'tool'), finish()]);
    const made = await newAgent({
      model,
      tools: registryOf([{}]),
      onEvent: ({ type }) => {
        if (type === 'step/end') made.agent.cancel('the user left');
      },
    });
    expect(await made.agent.send('one')).toEqual(ABORTED);
    expect(model.requests).toHaveLength(1);
    expectBalanced(made);
  });

  it('when the turn has ended changes nothing', async () => {
    const made = await newAgent({
      model: new TestModel(says('a')),
      onEvent: ({ type }) => {
        if (type === 'turn/end') made.agent.cancel('the user left');
      },
    });
    expect(await made.agent.send('one')).toEqual({ type: 'completed' });
    expect(made.data('turn/end')).toEqual([{ turn: 1, reason: { type: 'completed' } }]);
    expect(await made.agent.send('two')).toEqual({ type: 'completed' });
  });
});
