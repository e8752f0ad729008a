import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { AgentOptions } from '../agent.ts';
import { HarnessError } from '../errors.ts';
import type { EventStore } from '../session/event-store.ts';
import { jsonlEventStore } from '../session/jsonl-event-store.ts';
import { memoryEventStore } from '../session/memory-event-store.ts';
import type { SessionEvent, SessionEventType } from '../session/session-events.ts';
import { calls, finish, newAgent, registryOf, TestModel } from './testing/new-agent.ts';
import type { TestAgent } from './testing/new-agent.ts';
import { programRuntime } from './testing/program-runtime.ts';

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

function unreadableError(): Error {
  return Object.defineProperty(new Error('x'), 'message', {
    get: () => {
      throw new Error('no');
    },
  });
}

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
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

  it('at the start of a call of a program keeps it from its body', async () => {
    const { store, durable } = failingStore('tool/code-dispatch');
    const ran: string[] = [];
    const { agent, data } = await newAgent({
      model: new TestModel([calls('p', 'run_code', { code: '' }), finish()]),
      tools: registryOf([{ execute: (_, { callId }) => void ran.push(callId) }], {
        mode: 'code',
        runtime: programRuntime(async (tools) => (await tools['tool']?.({})) ?? null),
      }),
      store,
      sessionId: 'one',
    });
    expect(await agent.send('go')).toMatchObject({ type: 'error', code: 'store-failed' });
    expect(ran).toEqual([]);
    expect(data('tool/code-dispatch').map(({ phase }) => phase)).toEqual(['start', 'settle']);
    expect(data('tool/code-dispatch')[1]).toMatchObject({ outcome: 'not-started' });
    expect(durable().at(-1)?.type).toBe('tool/call');
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

  it('have made durable the start of each call of a program before its body', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'carrel-durability-'));
    const found: boolean[] = [];
    const names = ['a', 'b', 'c'];
    const { agent } = await newAgent({
      model: new TestModel([calls('p', 'run_code', { code: '' }), finish()]),
      tools: registryOf(
        names.map((name) => ({
          name,
          parallelSafe: true,
          execute: (_, { callId }) => {
            const lines = readFileSync(agent.logLocation, 'utf8').trimEnd().split('\n');
            const events = lines.map((line) => (JSON.parse(line) as { event: SessionEvent }).event);
            found.push(
              events.some(
                ({ type, data }) =>
                  type === 'tool/code-dispatch' && data.phase === 'start' && data.callId === callId,
              ),
            );
          },
        })),
        {
          mode: 'code',
          runtime: programRuntime(async (tools) => {
            await Promise.all(names.map((name) => tools[name]?.({})));
            return null;
          }),
        },
      ),
      store: jsonlEventStore({ directory }),
    });
    expect(await agent.send('go')).toEqual({ type: 'completed' });
    await agent.dispose();
    await rm(directory, { recursive: true });
    expect(found).toEqual([true, true, true]);
  });
});

describe('a store that throws where it must not', () => {
  it.each<SessionEventType>(['turn/start', 'user/message', 'tool/result', 'step/end', 'turn/end'])(
    'at %s fails the turn, and the agent is idle again',
    async (from) => {
      const inner = memoryEventStore();
      const seqs: number[] = [];
      let thrown = 0;
      const store: EventStore = {
        async create(sessionId) {
          const log = await inner.create(sessionId);
          return {
            sessionId,
            location: log.location,
            append(events) {
              if (thrown === 0 && events.some(({ type }) => type === from)) {
                thrown += 1;
                throw new Error('EIO');
              }
              seqs.push(...events.map(({ seq }) => seq));
              log.append(events);
            },
            flush: () => log.flush(),
            close: () => log.close(),
          };
        },
      };
      const { agent } = await newAgent({
        model: new TestModel([calls('1', 'tool'), finish()]),
        tools: registryOf([{}]),
        store,
      });
      expect(await agent.send('go')).toMatchObject({ type: 'error', code: 'store-failed' });
      await agent.whenIdle();
      expect(await agent.send('again')).toMatchObject({ type: 'error', code: 'store-failed' });
      expect(seqs).toEqual(seqs.map((_, index) => index));
      await expect(agent.dispose()).rejects.toMatchObject({ code: 'store-failed' });
    },
  );
});

describe('a turn', () => {
  it.each<[string, unknown]>([
    ['an object without a prototype', Object.create(null)],
    ['an error whose message cannot be read', unreadableError()],
    ['a revoked proxy', revokedProxy()],
    ['an error with half a character', new Error('\uD800')],
  ])('ends though a hook, a tool set or a model throws %s', async (_what, thrown) => {
    const rejection = async (): Promise<never> => {
      await Promise.resolve();
      throw thrown;
    };
    const raise = (): never => {
      throw thrown;
    };
    const model = new TestModel();
    const registry = registryOf([{}]);
    const throwing: readonly Partial<AgentOptions>[] = [
      { hooks: [{ 'system-prompt/assemble': rejection }] },
      { tools: { present: raise, executeBatch: raise } },
      {
        tools: { present: () => registry.present(), executeBatch: rejection },
        model: new TestModel([calls('1', 'tool'), finish()]),
      },
      { model: Object.assign(new TestModel(), { stream: raise }) },
      { model: new TestModel(() => ({ [Symbol.asyncIterator]: () => ({ next: rejection }) })) },
    ];
    for (const options of throwing) {
      const { agent, data } = await newAgent({ model, ...options });
      expect(await agent.send('go')).toHaveProperty('type');
      await agent.whenIdle();
      expect(data('turn/end')).toHaveLength(1);
    }
  });

  it('survives a listener that throws what says nothing of itself', async () => {
    const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const { agent } = await newAgent({
      onEvent: () => {
        throw Object.create(null);
      },
    });
    expect(await agent.send('go')).toEqual({ type: 'completed' });
    expect(warnings).toHaveBeenCalledWith('an error without a message');
    warnings.mockRestore();
  });
});
