import { describe, expect, it } from 'vitest';
import type { AgentHooks } from '../agent-contract.ts';
import { calls, finish, newAgent, registryOf, says, TestModel } from '../loop/testing/new-agent.ts';
import type { ModelMessage } from '../models/model.ts';

type PrefixHook = AgentHooks['agent/session-prefix'];

const prefixed = (hook: PrefixHook): Partial<AgentHooks> => ({ 'agent/session-prefix': hook });
const user = (text: string): ModelMessage => ({ role: 'user', text });
const prepends = (text: string): Partial<AgentHooks> =>
  prefixed(async (next) => [user(text), ...(await next())]);

describe('the session prefix', () => {
  it('is composed once for all turns and steps, and its header is logged once', async () => {
    let compositions = 0;
    const model = new TestModel([calls('1', 'tool'), finish()], says('a'), says('b'));
    const { agent, data } = await newAgent({
      model,
      tools: registryOf([{}]),
      hooks: [
        prefixed(async (next) => {
          compositions += 1;
          return [user(`composed ${compositions}`), ...(await next())];
        }),
      ],
    });
    expect(compositions).toBe(0);
    await agent.send('one');
    await agent.send('two');
    expect(compositions).toBe(1);
    expect(model.requests).toHaveLength(3);
    for (const { messages } of model.requests) expect(messages[0]).toEqual(user('composed 1'));
    expect(data('request/header')).toHaveLength(1);
    expect(data('request/header')[0]).toMatchObject({
      reason: 'initial',
      header: { messagePrefix: [user('composed 1')] },
    });
  });

  it('stands in front of the whole history, and is no part of it', async () => {
    const model = new TestModel();
    const { agent, types } = await newAgent({ model, hooks: [prepends('a'), prepends('b')] });
    await agent.send('one');
    await agent.send('two');
    const texts = model.requests[1]?.messages.map((message) =>
      message.role === 'user' ? message.text : message.role,
    );
    expect(texts).toEqual(['a', 'b', 'one', 'assistant', 'two']);
    expect(types()).not.toContain('context/message');
  });

  it('is absent from the header when nobody contributes, or nothing', async () => {
    const { agent, data } = await newAgent({ hooks: [prefixed((next) => next())] });
    await agent.send('one');
    expect(data('request/header')[0]?.header).toEqual({ model: 'test/model' });
  });

  it('hands out a seed that is frozen and empty', async () => {
    let seed: readonly ModelMessage[] = [user('not empty')];
    const { agent } = await newAgent({
      hooks: [
        prefixed(async (next) => {
          seed = await next();
          (seed as ModelMessage[]).push(user('pushed'));
          return seed;
        }),
      ],
    });
    const reason = await agent.send('one');
    expect(seed).toEqual([]);
    expect(reason).toMatchObject({ type: 'error', code: 'hook-failed' });
  });

  it('cannot be changed by what a hook still holds', async () => {
    const held = { role: 'user' as const, text: 'before' };
    const list: ModelMessage[] = [held];
    const model = new TestModel();
    const { agent, data } = await newAgent({
      model,
      hooks: [prefixed(() => Promise.resolve(list))],
    });
    await agent.send('one');
    held.text = 'after';
    list.push(user('more'));
    await agent.send('two');
    expect(model.requests[1]?.messages.slice(0, 2)).toEqual([user('before'), user('one')]);
    expect(Object.isFrozen(model.requests[1]?.messages[0])).toBe(true);
    expect(data('request/header')).toHaveLength(1);
  });

  it('is composed before the step begins', async () => {
    const { agent, types } = await newAgent({
      hooks: [
        prefixed((next) => {
          expect(types()).not.toContain('step/start');
          return next();
        }),
      ],
    });
    expect(await agent.send('one')).toEqual({ type: 'completed' });
  });

  it.each(['cancel', 'dispose'] as const)(
    'is discarded when %s interrupts its composition, whatever the hook falls back to',
    async (how) => {
      const model = new TestModel();
      const { agent, types, data } = await newAgent({
        model,
        hooks: [
          prefixed(async (next, { signal }) => {
            if (data('turn/start').length === 1) {
              if (how === 'cancel') agent.cancel('the user left');
              else void agent.dispose();
            }
            return signal.aborted ? [user('degraded')] : [user('whole'), ...(await next())];
          }),
        ],
      });
      const cause = how === 'cancel' ? 'the user left' : 'disposed';
      expect(await agent.send('one')).toEqual({ type: 'aborted', cause });
      expect(types()).toEqual(['session/start', 'turn/start', 'user/message', 'turn/end']);
      expect(model.requests).toEqual([]);
      if (how === 'dispose') return;
      expect(await agent.send('two')).toEqual({ type: 'completed' });
      expect(model.requests[0]?.messages[0]).toEqual(user('whole'));
    },
  );

  it('does not keep a turn that is cancelled waiting for a hook that hangs', async () => {
    const entered = Promise.withResolvers<void>();
    const late = Promise.withResolvers<readonly ModelMessage[]>();
    const model = new TestModel();
    let first = true;
    const { agent } = await newAgent({
      model,
      hooks: [
        prefixed((next) => {
          if (!first) return next();
          first = false;
          entered.resolve();
          return late.promise;
        }),
      ],
    });
    const turn = agent.send('one');
    await entered.promise;
    agent.cancel();
    expect(await turn).toMatchObject({ type: 'aborted' });
    late.resolve([user('too late')]);
    await agent.send('two');
    expect(model.requests[0]?.messages).toEqual([user('one'), user('two')]);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['throws', () => Promise.reject(new Error('no catalog'))],
    ['answers with no list', () => Promise.resolve('text')],
    ['answers with no message', () => Promise.resolve([{ role: 'user', content: 'text' }])],
    ['answers with what is not JSON', () => Promise.resolve([{ ...user('a'), extra: undefined }])],
  ])('that %s ends the turn, and is composed again in the next', async (_what, broken) => {
    let attempts = 0;
    const model = new TestModel();
    const { agent, types } = await newAgent({
      model,
      hooks: [
        prefixed((next) => {
          attempts += 1;
          return attempts === 1 ? (broken() as Promise<readonly ModelMessage[]>) : next();
        }),
      ],
    });
    expect(await agent.send('one')).toMatchObject({ type: 'error', code: 'hook-failed' });
    expect(types()).toEqual(['session/start', 'turn/start', 'user/message', 'turn/end']);
    expect(model.requests).toEqual([]);
    expect(await agent.send('two')).toEqual({ type: 'completed' });
  });
});
