import { describe, expect, it } from 'vitest';
import { HarnessError } from '../errors.ts';
import type { EventStore } from '../session/event-store.ts';
import { memoryEventStore } from '../session/memory-event-store.ts';
import type { SessionEvent, SessionEventType } from '../session/session-events.ts';
import { calls, finish, newAgent, registryOf, TestModel } from './testing/new-agent.ts';
import type { TestAgent } from './testing/new-agent.ts';

/** A store whose disk is full from the first event of one type on. */
function failingStore(from: SessionEventType): {
  readonly store: EventStore;
  durable(): readonly SessionEvent[];
} {
  const inner = memoryEventStore();
  const store: EventStore = {
    async create(sessionId) {
      const log = await inner.create(sessionId);
      let full = false;
      return {
        sessionId,
        location: log.location,
        append(events) {
          full ||= events.some(({ type }) => type === from);
          log.append(events);
        },
        flush: () => (full ? Promise.reject(new Error('ENOSPC')) : log.flush()),
        close: () => (full ? Promise.reject(new Error('ENOSPC')) : log.close()),
      };
    },
  };
  return { store, durable: () => inner.read('one') };
}

interface Failing extends TestAgent {
  readonly model: TestModel;
  readonly ran: string[];
  durable(): readonly SessionEvent[];
}

async function agentThatFailsFrom(type: SessionEventType): Promise<Failing> {
  const { store, durable } = failingStore(type);
  const ran: string[] = [];
  const model = new TestModel([calls('1', 'tool'), calls('2', 'tool'), finish()]);
  const tools = registryOf([{ execute: (_, { callId }) => void ran.push(callId) }]);
  const made = await newAgent({ model, tools, store, sessionId: 'one' });
  return { ...made, model, ran, durable };
}

describe('a barrier that fails', () => {
  it.each<[SessionEventType, number, readonly string[]]>([
    ['user/message', 0, []],
    ['step/start', 0, []],
    ['request/header', 0, []],
    ['tool/call', 1, []],
    ['tool/result', 1, ['1', '2']],
    ['turn/end', 2, ['1', '2']],
  ])('at %s ends the turn: nothing is sent or run after it', async (type, requests, bodies) => {
    const { agent, model, ran, data, durable } = await agentThatFailsFrom(type);
    const reason = await agent.send('go');
    expect(reason).toMatchObject({ type: 'error', code: 'store-failed' });
    expect(model.requests).toHaveLength(requests);
    expect(ran).toEqual(bodies);
    expect(data('turn/end')).toHaveLength(1);
    expect(data('step/end')).toEqual(data('step/start'));
    expect(data('tool/result').map(({ callId }) => callId)).toEqual(
      data('tool/call').map(({ callId }) => callId),
    );
    expect(durable().some((event) => event.type === type)).toBe(false);
    await agent.whenIdle();

    expect(await agent.send('again')).toMatchObject({ type: 'error', code: 'store-failed' });
    expect(model.requests).toHaveLength(requests);
    await expect(agent.dispose()).rejects.toMatchObject({ code: 'store-failed' });
  });

  it('at tool/call answers the calls as not started', async () => {
    const { agent, data } = await agentThatFailsFrom('tool/call');
    await agent.send('go');
    expect(data('tool/result')).toHaveLength(2);
    for (const { content } of data('tool/result')) {
      expect(JSON.stringify(content)).toContain('not started');
    }
  });

  it('at the start of the session makes no agent', async () => {
    const { store } = failingStore('session/start');
    await expect(newAgent({ store })).rejects.toBeInstanceOf(HarnessError);
    await expect(newAgent({ store: failingStore('session/start').store })).rejects.toMatchObject({
      code: 'store-failed',
    });
  });
});

describe('the barriers of a turn', () => {
  it('have made durable what the request and the bodies follow from', async () => {
    const store = memoryEventStore();
    const durableTypes = (): readonly string[] => store.read('one').map(({ type }) => type);
    const seen: (readonly string[])[] = [];
    const model = new TestModel(async function* () {
      seen.push(durableTypes());
      yield calls('1', 'tool');
      yield finish();
    });
    const tools = registryOf([{ execute: () => void seen.push(durableTypes()) }]);
    let atHook: readonly string[] = [];
    let afterCalls: readonly string[] = [];
    const { agent } = await newAgent({
      model,
      tools,
      store,
      sessionId: 'one',
      maxStepsPerTurn: 1,
      hooks: [
        {
          'system-prompt/assemble': (next) => {
            atHook = durableTypes();
            return next();
          },
        },
      ],
      onEvent: ({ type }) => {
        if (type === 'step/end') afterCalls = durableTypes();
      },
    });
    await agent.send('go');
    expect(atHook.at(-1)).toBe('user/message');
    expect(afterCalls.at(-1)).toBe('tool/result');
    expect(seen[0]).toEqual([
      'session/start',
      'turn/start',
      'user/message',
      'step/start',
      'request/header',
    ]);
    expect(seen[1]?.slice(5)).toEqual(['assistant/message', 'tool/call']);
    expect(durableTypes().at(-1)).toBe('turn/end');
  });
});
