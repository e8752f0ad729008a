import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ToolsRegistry } from '@carrel/tools-registry';
import { describe, expect, it } from 'vitest';
import { createAgent } from './agent.ts';
import type { AgentOptions } from './agent.ts';
import { calls, finish, newAgent, registryOf, says, TestModel } from './loop/testing/new-agent.ts';
import type { ModelRequest, ModelStreamPart } from './models/model.ts';
import { jsonlEventStore } from './session/jsonl-event-store.ts';
import { memoryEventStore } from './session/memory-event-store.ts';
import type { SessionEvent } from './session/session-events.ts';

const section = (text: string) => ({ name: text, block: 'stable' as const, text });

const TURN_WITHOUT_STEP = ['turn/start', 'user/message', 'turn/end'];

describe('an agent', () => {
  it('answers, and leaves the whole turn in a file', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'carrel-agent-'));
    const agent = await createAgent({
      model: new TestModel([
        { type: 'text-delta', text: 'I ask. ' },
        calls('1', 'tool', { a: 1 }),
        finish('tool-calls'),
      ]),
      tools: registryOf([{}]),
      store: jsonlEventStore({ directory }),
      sessionId: 'session-1',
    });
    expect(await agent.send('Go on', { messageId: 'm-1' })).toEqual({ type: 'completed' });
    const { events, logLocation } = agent;
    // The turn has ended, so all of it is durable, though the log is still open.
    const lines = (await readFile(logLocation, 'utf8')).trimEnd().split('\n');
    await agent.dispose();
    await rm(directory, { recursive: true });
    const written = lines.map((line) => (JSON.parse(line) as { event: SessionEvent }).event);
    expect(written).toEqual(events);
    expect(written.map(({ type }) => type)).toEqual([
      'session/start',
      'turn/start',
      'user/message',
      'step/start',
      'request/header',
      'assistant/chunk',
      'assistant/message',
      'tool/call',
      'tool/result',
      'step/end',
      'step/start',
      'assistant/chunk',
      'assistant/message',
      'step/end',
      'turn/end',
    ]);
    expect(written[0]?.data).toEqual({ sessionId: 'session-1', formatVersion: 1 });
    expect(written[2]?.data).toEqual({ messageId: 'm-1', text: 'Go on' });
  });

  it('sends what the log says: system blocks, tools, and the history so far', async () => {
    const model = new TestModel([
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'reasoning-end', providerMetadata: { p: { signature: 's' } } },
      { type: 'text-delta', text: 'I ' },
      { type: 'text-delta', text: 'ask.' },
      calls('1', 'tool', { a: 1 }),
      finish('tool-calls'),
    ]);
    const { agent } = await newAgent({
      model,
      tools: registryOf([{}]),
      maxOutputTokens: 50,
      sections: [
        { name: 'directory', block: 'session', text: 'In /tmp.' },
        { name: 'persona', block: 'stable', text: 'You help.' },
      ],
    });
    await agent.send('Go on');
    const tool = {
      name: 'tool',
      description: 'A tool.',
      inputSchema: { type: 'object' },
    };
    expect(model.requests[0]).toEqual({
      system: ['You help.', 'In /tmp.'],
      tools: [tool],
      messages: [{ role: 'user', text: 'Go on' }],
      maxOutputTokens: 50,
    });
    expect(model.requests[1]?.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm', providerMetadata: { p: { signature: 's' } } },
          { type: 'text', text: 'I ask.' },
          { type: 'tool-call', id: '1', name: 'tool', arguments: { a: 1 } },
        ],
      },
      {
        role: 'tool',
        callId: '1',
        toolName: 'tool',
        isError: false,
        content: [{ type: 'text', text: 'result' }],
      },
    ]);
    const system = model.requests[0]?.system as string[] | undefined;
    expect(() => system?.push('more')).toThrow(TypeError);
  });

  it('logs a header only when it differs from the one before', async () => {
    const tools = registryOf([{}]);
    const { agent, data } = await newAgent({ tools });
    await agent.send('one');
    await agent.send('two');
    tools.register({
      name: 'more',
      description: 'More.',
      inputSchema: { type: 'object' },
      execute: () => 1,
    });
    await agent.send('three');
    const headers = data('request/header');
    expect(headers.map(({ reason }) => reason)).toEqual(['initial', 'changed']);
    expect(headers[1]?.header.tools?.map(({ name }) => name)).toEqual(['more', 'tool']);
  });

  it('works through its messages one turn each, in order', async () => {
    const model = new TestModel(says('a'), says('b'));
    const { agent, data } = await newAgent({ model });
    const [one, two] = [agent.send('one'), agent.send('two')];
    await agent.whenIdle();
    expect(await Promise.all([one, two])).toEqual([{ type: 'completed' }, { type: 'completed' }]);
    expect(data('turn/start')).toEqual([{ turn: 1 }, { turn: 2 }]);
    expect(model.requests.map(({ messages }) => messages.length)).toEqual([1, 3]);
  });

  it('takes a message that is sent again for the same one, during its turn and after it', async () => {
    const { agent, data } = await newAgent();
    const options = { messageId: 'm' };
    const ends = [agent.send('one', options), agent.send('one', options)];
    await Promise.all(ends);
    expect(await agent.send('one', options)).toEqual({ type: 'completed' });
    await expect(agent.send('other', options)).rejects.toThrow(TypeError);
    expect(data('user/message')).toEqual([{ messageId: 'm', text: 'one' }]);
  });

  it('takes what is sent while a listener hears of an event, and is idle only after it', async () => {
    let idle: Promise<number> | undefined;
    const made = await newAgent({
      onEvent: ({ type, data }) => {
        if (type !== 'turn/start' || data.turn !== 1) return;
        idle = made.agent.whenIdle().then(() => made.data('turn/end').length);
        void made.agent.send('from a listener');
      },
    });
    await made.agent.send('one');
    expect(await idle).toBe(2);
    const turns = made.types().filter((type) => type.startsWith('turn/'));
    expect(turns).toEqual(['turn/start', 'turn/end', 'turn/start', 'turn/end']);
  });

  it('asks for as many steps as it may, and then ends the turn', async () => {
    const step = [calls('1', 'tool'), finish()];
    const model = new TestModel(step, step, step);
    const { agent, data } = await newAgent({
      model,
      tools: registryOf([{}]),
      maxStepsPerTurn: 2,
    });
    expect(await agent.send('one')).toMatchObject({ type: 'error', code: 'step-limit' });
    expect(model.requests).toHaveLength(2);
    expect(data('step/end')).toEqual(data('step/start'));
    expect(data('tool/result')).toHaveLength(2);
  });

  it('rejects what waits when it is disposed, and every later message', async () => {
    const { agent, data, store } = await newAgent();
    const [one, two] = [agent.send('one'), agent.send('two')];
    await Promise.all([agent.dispose(), agent.dispose()]);
    expect(await one).toEqual({ type: 'aborted', cause: 'disposed' });
    expect(await two).toMatchObject({ type: 'rejected' });
    await expect(agent.send('three')).rejects.toMatchObject({ code: 'agent-disposed' });
    expect(data('turn/end')).toHaveLength(1);
    expect(store.read(agent.sessionId)).toEqual(agent.events);
  });

  it('does not take the id of a session that exists', async () => {
    const store = memoryEventStore();
    await newAgent({ store, sessionId: 'one' });
    await expect(newAgent({ store, sessionId: 'one' })).rejects.toMatchObject({
      code: 'session-exists',
    });
  });

  it.each<[string, Partial<AgentOptions>]>([
    ['sessionId', { sessionId: '' }],
    ['sessionId', { sessionId: '\uD800' }],
    ['maxStepsPerTurn', { maxStepsPerTurn: 0 }],
    ['maxOutputTokens', { maxOutputTokens: 1.5 }],
    ['sections', { sections: [{ name: 'a', block: 'other' as 'stable', text: '' }] }],
    ['hooks', { hooks: {} as never }],
    ['hooks[0]', { hooks: [null as never] }],
    ['system-prompt/assemble', { hooks: [{ 'system-prompt/assemble': 'text' as never }] }],
    ['agent/session-prefx', { hooks: [{ 'agent/session-prefx': () => [] } as never] }],
    ['model', { model: undefined as never }],
    ['model', { model: 'openai/gpt' as never }],
    ['model.id', { model: { id: '', stream: () => {} } as never }],
    ['model.stream', { model: { id: 'a/b' } as never }],
    ['tools', { tools: [] as never }],
    ['tools.executeBatch', { tools: { present: () => {} } as never }],
    ['store', { store: undefined as never }],
    ['store.create', { store: {} as never }],
  ])('names %s when it is no such option', async (option, options) => {
    await expect(newAgent(options)).rejects.toThrow(TypeError);
    await expect(newAgent(options)).rejects.toThrow(option);
  });

  it('refuses a message without text', async () => {
    const { agent } = await newAgent();
    await expect(agent.send(' \n')).rejects.toThrow(TypeError);
    expect(agent.events).toHaveLength(1);
  });
});

describe('a turn that fails', () => {
  it('ends balanced and unsent when the tool set is misconfigured, every time until it is fixed', async () => {
    const model = new TestModel();
    const tools = new ToolsRegistry({ tools: ['missing'] });
    const { agent, types } = await newAgent({ model, tools });
    for (const text of ['one', 'two']) {
      const reason = await agent.send(text);
      expect(reason).toMatchObject({ type: 'error', code: 'tools-misconfigured' });
      expect(JSON.stringify(reason)).toContain('missing');
      await agent.whenIdle();
    }
    expect(types()).toEqual(['session/start', ...TURN_WITHOUT_STEP, ...TURN_WITHOUT_STEP]);
    expect(model.requests).toEqual([]);
    tools.register({ name: 'missing', description: '', inputSchema: {}, execute: () => 1 });
    expect(await agent.send('three')).toEqual({ type: 'completed' });
    expect(model.requests[0]?.messages).toHaveLength(3);
  });

  it('says what an assembling hook threw, and opens no step', async () => {
    const model = new TestModel();
    const { agent, types } = await newAgent({
      model,
      hooks: [{ 'system-prompt/assemble': () => Promise.reject(new Error('no notes')) }],
    });
    expect(await agent.send('one')).toEqual({
      type: 'error',
      code: 'hook-failed',
      message: 'A `system-prompt/assemble` hook failed: no notes',
    });
    expect(types()).toEqual(['session/start', ...TURN_WITHOUT_STEP]);
    expect(model.requests).toEqual([]);
  });

  it('lets hooks add sections, the outermost first, and holds their signal', async () => {
    const model = new TestModel();
    const { agent } = await newAgent({
      model,
      sections: [section('own')],
      hooks: ['a', 'b'].map((text) => ({
        'system-prompt/assemble': async (next, { signal }) => {
          expect(signal.aborted).toBe(false);
          return [section(text), ...(await next())];
        },
      })),
    });
    await agent.send('one');
    expect(model.requests[0]?.system).toEqual(['a\n\nb\n\nown']);
  });

  it('carries the code and the words of the model, after the text that came', async () => {
    const error = { code: 'overloaded', message: 'Busy.', retryable: true } as const;
    const model = new TestModel([
      { type: 'text-delta', text: 'Half' },
      calls('1', 'tool'),
      { type: 'error', error },
    ]);
    const { agent, types, data } = await newAgent({ model, tools: registryOf([{}]) });
    expect(await agent.send('one')).toEqual({
      type: 'error',
      code: 'overloaded',
      message: 'Busy.',
    });
    expect(types().slice(3)).toEqual([
      'step/start',
      'request/header',
      'assistant/message',
      'request/error',
      'step/end',
      'turn/end',
    ]);
    expect(data('request/error')).toEqual([{ error }]);
    expect(data('assistant/message')).toEqual([
      { content: [{ type: 'text', text: 'Half' }], finishReason: 'error' },
    ]);
    expect(await agent.send('two')).toEqual({ type: 'completed' });
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
    ]);
  });

  it.each<[string, () => AsyncGenerator<ModelStreamPart>]>([
    [
      'throws',
      // eslint-disable-next-line require-yield -- a stream that fails at once has nothing to yield
      async function* () {
        throw new Error('socket hang up');
      },
    ],
    [
      'stops without saying how',
      async function* () {
        yield { type: 'text-delta', text: 'a' } as const;
      },
    ],
  ])('survives a model that %s', async (_what, answer) => {
    const { agent, data } = await newAgent({ model: new TestModel(answer) });
    expect(await agent.send('one')).toMatchObject({ type: 'error', code: 'unknown' });
    expect(data('request/error')).toHaveLength(1);
    expect(data('turn/end')).toHaveLength(1);
    expect(await agent.send('two')).toEqual({ type: 'completed' });
  });

  it('survives a model whose `stream` throws', async () => {
    const model = new TestModel();
    model.stream = () => {
      throw new Error('broken adapter');
    };
    const { agent, data } = await newAgent({ model });
    const reason = await agent.send('one');
    expect(reason).toEqual({ type: 'error', code: 'unexpected', message: 'broken adapter' });
    expect(data('step/end')).toHaveLength(1);
  });

  it('runs no call of an answer that was cut off, and ends with max-tokens', async () => {
    let ran = false;
    const model = new TestModel([
      { type: 'text-delta', text: 'I will' },
      calls('1', 'tool'),
      { type: 'invalid-tool-call', id: '2', name: 'tool', argumentsText: '{"a":' },
      finish('max-tokens'),
    ]);
    const tools = registryOf([{ execute: () => (ran = true) }]);
    const { agent, types, data } = await newAgent({ model, tools });
    expect(await agent.send('one')).toEqual({ type: 'max-tokens' });
    expect(ran).toBe(false);
    expect(types()).not.toContain('tool/call');
    expect(data('assistant/message')[0]?.content).toEqual([{ type: 'text', text: 'I will' }]);
  });

  it('says so when the provider withheld the answer', async () => {
    const model = new TestModel([calls('1', 'tool'), finish('content-filter')]);
    const { agent, types } = await newAgent({ model, tools: registryOf([{}]) });
    expect(await agent.send('one')).toMatchObject({ type: 'error', code: 'content-filter' });
    expect(types()).not.toContain('tool/call');
  });

  it('completes with an answer that says nothing, and leaves it out of the next request', async () => {
    const model = new TestModel([finish()]);
    const { agent, data } = await newAgent({ model });
    expect(await agent.send('one')).toEqual({ type: 'completed' });
    expect(data('assistant/message')[0]?.content).toEqual([]);
    await agent.send('two');
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'user']);
  });

  it('sends nothing that the log does not say', async () => {
    const requests: ModelRequest[] = [];
    let asked = 0;
    const model = {
      // Another id each time: what is in the header is not what it goes to.
      get id() {
        asked += 1;
        return `model-${asked}`;
      },
      contextWindowTokens: 1,
      stream: (request: ModelRequest) => {
        requests.push(request);
        return new TestModel().stream(request, new AbortController().signal);
      },
    };
    const { agent, data } = await newAgent({ model });
    const reason = await agent.send('one');
    expect(reason).toMatchObject({ type: 'error', code: 'request-mismatch' });
    expect(requests).toEqual([]);
    expect(data('step/end')).toHaveLength(1);
  });
});
