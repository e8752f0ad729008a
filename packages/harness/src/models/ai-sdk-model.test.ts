import { createAnthropic } from '@ai-sdk/anthropic';
import { createDeepSeek } from '@ai-sdk/deepseek';
import { createOpenAI } from '@ai-sdk/openai';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { aiSdkModel } from './ai-sdk-model.ts';
import type { Model, ModelRequest, ModelStreamPart } from './model.ts';
import {
  anthropicEvents,
  chatChunk,
  chatEvents,
  responsesEvents,
} from './testing/provider-events.ts';
import type { AnswerEvents } from './testing/provider-events.ts';
import { startProviderServer } from './testing/provider-server.ts';
import type { ProviderServer } from './testing/provider-server.ts';

interface ProviderCase {
  readonly name: string;
  connect(url: string): Model;
  events(answer: AnswerEvents): unknown[];
  error(type: string, code: string, message: string): unknown;
  readonly usage: { readonly cacheReadTokens: number; readonly cacheWriteTokens: number };
}

const apiKey = 'a-key';
const openAiError = (type: string, code: string, message: string): unknown => ({
  error: { message, type, param: null, code },
});
const chatUsage = { cacheReadTokens: 896, cacheWriteTokens: 0 };
const providers: readonly ProviderCase[] = [
  {
    name: 'anthropic.messages',
    connect: (baseURL) => aiSdkModel(createAnthropic({ baseURL, apiKey })('claude-sonnet-4-5')),
    events: anthropicEvents,
    error: (type, _code, message) => ({ type: 'error', error: { type, message } }),
    usage: { cacheReadTokens: 800, cacheWriteTokens: 150 },
  },
  {
    name: 'openai.chat',
    connect: (baseURL) => aiSdkModel(createOpenAI({ baseURL, apiKey }).chat('gpt-4.1')),
    events: chatEvents,
    error: openAiError,
    usage: chatUsage,
  },
  {
    name: 'openai.responses',
    connect: (baseURL) => aiSdkModel(createOpenAI({ baseURL, apiKey }).responses('gpt-4.1')),
    events: responsesEvents,
    error: openAiError,
    usage: chatUsage,
  },
  {
    name: 'deepseek.chat',
    connect: (baseURL) => aiSdkModel(createDeepSeek({ baseURL, apiKey })('deepseek-chat')),
    events: chatEvents,
    error: openAiError,
    usage: chatUsage,
  },
];

const inputSchema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const first: ModelRequest = deepFreeze({
  system: ['Be brief.', 'Working directory: /work'],
  tools: [{ name: 'weather', description: 'The weather of a city.', inputSchema }],
  messages: [
    { role: 'user', text: 'Project notes.' },
    { role: 'user', text: 'Weather in Rome?' },
  ],
  maxOutputTokens: 1024,
});
const call = { id: 'call_1', name: 'weather', argumentsText: '{"city":"Rome"}' };
const second: ModelRequest = deepFreeze({
  ...first,
  messages: [
    ...first.messages,
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'I look.' },
        { type: 'tool-call', id: 'call_1', name: 'weather', arguments: { city: 'Rome' } },
      ],
    },
    {
      role: 'tool',
      callId: 'call_1',
      toolName: 'weather',
      isError: false,
      content: [{ type: 'text', text: 'Sunny.\n21 °C' }],
    },
  ],
});

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) deepFreeze(member);
    Object.freeze(value);
  }
  return value;
}

async function partsOf(
  model: Model,
  request: ModelRequest = first,
  signal: AbortSignal = new AbortController().signal,
): Promise<ModelStreamPart[]> {
  const parts: ModelStreamPart[] = [];
  for await (const part of model.stream(request, signal)) parts.push(part);
  return parts;
}

let server: ProviderServer;
beforeEach(async () => {
  server = await startProviderServer();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server.close();
});

describe.each(providers)('a model of $name', ({ name, connect, events, error, usage }) => {
  it('streams text, a whole tool call, and usage with what the cache gave', async () => {
    server.respond({ events: events({ text: 'I look.', call }) });
    const model = connect(server.url);
    expect(model.id.startsWith(`${name}/`)).toBe(true);
    expect(await partsOf(model)).toEqual([
      { type: 'text-delta', text: 'I lo' },
      { type: 'text-delta', text: 'ok.' },
      { type: 'tool-call', id: 'call_1', name: 'weather', arguments: { city: 'Rome' } },
      {
        type: 'finish',
        reason: 'tool-calls',
        usage: { inputTokens: 1000, outputTokens: 20, ...usage },
      },
    ]);
  });

  it('stops with an answer that has no call', async () => {
    server.respond({ events: events({ text: 'Sunny.' }) });
    expect((await partsOf(connect(server.url))).at(-1)).toMatchObject({
      type: 'finish',
      reason: 'stop',
    });
  });

  it('sends equal bytes for equal requests', async () => {
    server.respond({ events: events({ text: 'a' }) }, { events: events({ text: 'b' }) });
    await partsOf(connect(server.url), second);
    await partsOf(connect(server.url), second);
    const [one, other] = server.requests;
    expect(one?.text).toBe(other?.text);
  });

  it('hands a call whose arguments are no JSON over as it came', async () => {
    const broken = { ...call, argumentsText: '{"city": Rome}' };
    server.respond({ events: events({ call: broken }) });
    const parts = await partsOf(connect(server.url));
    expect(parts.map(({ type }) => type)).toEqual(['invalid-tool-call', 'finish']);
    expect(parts[0]).toEqual({
      type: 'invalid-tool-call',
      id: 'call_1',
      name: 'weather',
      argumentsText: '{"city": Rome}',
    });
  });

  it('takes a call without arguments as one with none', async () => {
    server.respond({ events: events({ call: { ...call, argumentsText: '' } }) });
    expect((await partsOf(connect(server.url)))[0]).toMatchObject({ arguments: {} });
  });

  it.each([
    [401, 'authentication_error', 'unauthorized', false],
    [403, 'permission_error', 'unauthorized', false],
    [429, 'rate_limit_error', 'rate-limited', true],
    [400, 'invalid_request_error', 'invalid-request', false],
    [404, 'not_found_error', 'invalid-request', false],
    [500, 'api_error', 'overloaded', true],
    [529, 'overloaded_error', 'overloaded', true],
  ])('answers HTTP %i with one error part', async (status, type, code, retryable) => {
    server.respond({ status, json: error(type, type, 'Those are the words.') });
    const parts = await partsOf(connect(server.url));
    expect(parts).toMatchObject([{ type: 'error', error: { code, retryable } }]);
    const [part] = parts;
    expect(part?.type === 'error' && part.error.message).toContain(
      `(HTTP ${status}): Those are the words.`,
    );
  });

  it.each([
    'prompt is too long: 210000 tokens > 200000 maximum',
    "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens.",
  ])('knows a request that is too long: %s', async (message) => {
    const json = error('invalid_request_error', 'context_length_exceeded', message);
    server.respond({ status: 400, json });
    expect(await partsOf(connect(server.url))).toMatchObject([
      { type: 'error', error: { code: 'context-overflow', retryable: false } },
    ]);
  });

  it.each(['cut', 'end'] as const)(
    'reports a stream that stops in the midst (%s), without a call',
    async (after) => {
      const all = events({ text: 'I look.', call });
      const upTo = all.findIndex((event) => JSON.stringify(event).includes(String.raw`{\"ci`));
      server.respond({ events: all.slice(0, upTo + 1), after });
      const parts = await partsOf(connect(server.url));
      const types = parts.map(({ type }) => type);
      expect(types.at(-1)).toBe('error');
      expect(types.slice(0, -1).every((type) => type === 'text-delta')).toBe(true);
      expect(parts.at(-1)).toMatchObject({ error: { code: 'network', retryable: true } });
    },
  );

  it('reports a server that is not there', async () => {
    const model = connect(server.url);
    await server.close();
    const parts = await partsOf(model);
    expect(parts).toMatchObject([{ type: 'error', error: { code: 'network', retryable: true } }]);
  });

  it('ends soon after an abort in the midst of the stream, and lets go of the connection', async () => {
    const all = events({ text: 'I look.', call });
    const upTo = all.findIndex((event) => JSON.stringify(event).includes('I lo'));
    server.respond({ events: all.slice(0, upTo + 1), after: 'hang' });
    const abort = new AbortController();
    const parts: ModelStreamPart[] = [];
    for await (const part of connect(server.url).stream(first, abort.signal)) {
      parts.push(part);
      abort.abort();
    }
    expect(parts).toMatchObject([
      { type: 'text-delta', text: 'I lo' },
      { type: 'error', error: { code: 'aborted', retryable: false } },
    ]);
    await server.abandoned;
  });

  it('sends nothing once it is aborted', async () => {
    const parts = await partsOf(connect(server.url), first, AbortSignal.abort());
    expect(parts).toMatchObject([{ type: 'error', error: { code: 'aborted' } }]);
    expect(server.requests).toEqual([]);
  });

  it('lets go of the connection when the reader leaves early', async () => {
    const all = events({ text: 'I look.', call });
    const upTo = all.findIndex((event) => JSON.stringify(event).includes('I lo'));
    server.respond({ events: all.slice(0, upTo + 1), after: 'hang' });
    for await (const part of connect(server.url).stream(first, new AbortController().signal)) {
      expect(part).toMatchObject({ text: 'I lo' });
      break;
    }
    await server.abandoned;
  });
});

async function bodies(
  connect: ProviderCase['connect'],
  ...requests: ModelRequest[]
): Promise<string[]> {
  const model = connect(server.url);
  for (const request of requests) {
    server.respond({ status: 500, json: {} });
    await partsOf(model, request);
  }
  return server.requests.map(({ text }) => text);
}
function connectTo(name: string): ProviderCase['connect'] {
  const provider = providers.find((candidate) => candidate.name === name);
  if (provider === undefined) throw new Error(`no provider ${name}`);
  return provider.connect;
}

describe('what goes over the wire', () => {
  const mark = { cache_control: { type: 'ephemeral' } };

  it('sends Anthropic two system blocks and breakpoints at both and at the tails', async () => {
    const [one, other] = await bodies(connectTo('anthropic.messages'), first, second);
    const head = {
      model: 'claude-sonnet-4-5',
      max_tokens: 1024,
      system: [
        { type: 'text', text: 'Be brief.', ...mark },
        { type: 'text', text: 'Working directory: /work', ...mark },
      ],
    };
    const notes = { type: 'text', text: 'Project notes.' };
    const question = { type: 'text', text: 'Weather in Rome?', ...mark };
    const tail = {
      tools: [
        {
          name: 'weather',
          description: 'The weather of a city.',
          input_schema: inputSchema,
          eager_input_streaming: true,
        },
      ],
      stream: true,
    };
    expect(one).toBe(
      JSON.stringify({
        ...head,
        messages: [{ role: 'user', content: [notes, question] }],
        ...tail,
      }),
    );
    expect(other).toBe(
      JSON.stringify({
        ...head,
        messages: [
          { role: 'user', content: [notes, question] },
          {
            role: 'assistant',
            content: [
              { type: 'text', text: 'I look.' },
              { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Rome' } },
            ],
          },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 'call_1', content: 'Sunny.\n21 °C', ...mark },
            ],
          },
        ],
        ...tail,
      }),
    );
  });

  it('sends OpenAI chat the blocks as system messages, and no breakpoints', async () => {
    const [, body] = await bodies(connectTo('openai.chat'), first, second);
    expect(body).toBe(
      JSON.stringify({
        model: 'gpt-4.1',
        max_tokens: 1024,
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'system', content: 'Working directory: /work' },
          { role: 'user', content: 'Project notes.' },
          { role: 'user', content: 'Weather in Rome?' },
          {
            role: 'assistant',
            content: 'I look.',
            tool_calls: [
              {
                id: 'call_1',
                type: 'function',
                function: { name: 'weather', arguments: '{"city":"Rome"}' },
              },
            ],
          },
          { role: 'tool', tool_call_id: 'call_1', content: 'Sunny.\n21 °C' },
        ],
        tools: [
          {
            type: 'function',
            function: {
              name: 'weather',
              description: 'The weather of a city.',
              parameters: inputSchema,
            },
          },
        ],
        stream: true,
        stream_options: { include_usage: true },
      }),
    );
  });

  it('sends OpenAI responses a complete request that the server need not remember', async () => {
    const [, body] = await bodies(connectTo('openai.responses'), first, second);
    expect(body).toBe(
      JSON.stringify({
        model: 'gpt-4.1',
        input: [
          { role: 'system', content: 'Be brief.' },
          { role: 'system', content: 'Working directory: /work' },
          { role: 'user', content: [{ type: 'input_text', text: 'Project notes.' }] },
          { role: 'user', content: [{ type: 'input_text', text: 'Weather in Rome?' }] },
          { role: 'assistant', content: 'I look.' },
          {
            type: 'function_call',
            call_id: 'call_1',
            name: 'weather',
            arguments: '{"city":"Rome"}',
          },
          { type: 'function_call_output', call_id: 'call_1', output: 'Sunny.\n21 °C' },
        ],
        max_output_tokens: 1024,
        store: false,
        tools: [
          {
            type: 'function',
            name: 'weather',
            description: 'The weather of a city.',
            parameters: inputSchema,
            strict: false,
          },
        ],
        stream: true,
      }),
    );
  });

  it('sends DeepSeek the blocks as system messages, and no breakpoints', async () => {
    const [, body] = await bodies(connectTo('deepseek.chat'), first, second);
    expect(body).toContain(
      '"messages":[{"role":"system","content":"Be brief."},{"role":"system","content":"Working directory: /work"},',
    );
    expect(body).toContain('{"role":"tool","tool_call_id":"call_1","content":"Sunny.\\n21 °C"}');
    expect(body).not.toContain('cache');
  });

  it('hands provider options over unchanged', async () => {
    const [body] = await bodies(connectTo('openai.responses'), {
      ...first,
      providerOptions: { openai: { store: true, promptCacheKey: 'session-1' } },
    });
    expect(body).toContain('"store":true,"prompt_cache_key":"session-1"');
  });

  it('reports provider options of no meaning instead of dropping them', async () => {
    const model = connectTo('openai.chat')(server.url);
    expect(await partsOf(model, { ...first, providerOptions: 'fast' })).toMatchObject([
      { type: 'error', error: { code: 'invalid-request', retryable: false } },
    ]);
    expect(server.requests).toEqual([]);
  });
});

function block(index: number, start: object, ...deltas: object[]): unknown[] {
  return [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

function summary(type: string, index: number, more: object = {}): unknown {
  const at = { item_id: 'rs_1', output_index: 0, summary_index: index };
  return { type: `response.reasoning_summary_${type}`, ...at, ...more };
}

describe('reasoning', () => {
  const thinking = { thinking: { type: 'enabled', budgetTokens: 1024 } };
  const base = anthropicEvents({ text: 'Sunny.' });

  it('goes back to Anthropic with its signature, also when it is redacted', async () => {
    server.respond(
      {
        events: [
          base[0],
          ...block(
            0,
            { type: 'thinking', thinking: '', signature: '' },
            { type: 'thinking_delta', thinking: 'Rome is ' },
            { type: 'thinking_delta', thinking: 'warm.' },
            { type: 'signature_delta', signature: 'c2ln' },
          ),
          ...block(1, { type: 'redacted_thinking', data: 'aGlkZGVu' }),
          ...block(
            2,
            { type: 'tool_use', id: 'call_1', name: 'weather', input: {} },
            { type: 'input_json_delta', partial_json: call.argumentsText },
          ),
          ...base.slice(-2),
        ],
      },
      { status: 500, json: {} },
    );
    const model = aiSdkModel(createAnthropic({ baseURL: server.url, apiKey })('claude-sonnet-4-5'));
    const request = { ...first, providerOptions: { anthropic: thinking } };
    const signed = { anthropic: { signature: 'c2ln' } };
    const redacted = { anthropic: { redactedData: 'aGlkZGVu' } };
    expect((await partsOf(model, request)).slice(0, -2)).toEqual([
      { type: 'reasoning-delta', text: 'Rome is ' },
      { type: 'reasoning-delta', text: 'warm.' },
      { type: 'reasoning-end', providerMetadata: signed },
      { type: 'reasoning-delta', text: '' },
      { type: 'reasoning-end', providerMetadata: redacted },
    ]);
    await partsOf(model, {
      ...request,
      messages: [
        ...request.messages,
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'Rome is warm.', providerMetadata: signed },
            { type: 'reasoning', text: '', providerMetadata: redacted },
            { type: 'tool-call', id: 'call_1', name: 'weather', arguments: { city: 'Rome' } },
          ],
        },
        {
          role: 'tool',
          callId: 'call_1',
          toolName: 'weather',
          isError: true,
          content: [{ type: 'text', text: 'No such city.' }],
        },
      ],
    });
    expect(server.requests[1]?.text).toContain(
      '{"role":"assistant","content":[{"type":"thinking","thinking":"Rome is warm.","signature":"c2ln"},{"type":"redacted_thinking","data":"aGlkZGVu"},{"type":"tool_use"',
    );
    expect(server.requests[1]?.text).toContain(
      '"content":"No such city.","is_error":true,"cache_control"',
    );
  });

  it('goes back to OpenAI in one item, though its summaries end only together', async () => {
    const item = { type: 'reasoning', id: 'rs_1' };
    const [created, progress, ...rest] = responsesEvents({ call });
    server.respond(
      {
        events: [
          created,
          progress,
          { type: 'response.output_item.added', output_index: 0, item },
          summary('part.added', 0),
          summary('text.delta', 0, { delta: 'One.' }),
          summary('part.done', 0),
          summary('part.added', 1),
          summary('text.delta', 1, { delta: 'Two.' }),
          summary('part.done', 1),
          {
            type: 'response.output_item.done',
            output_index: 0,
            item: { ...item, encrypted_content: 'c2VjcmV0', summary: [] },
          },
          ...rest,
        ],
      },
      { status: 500, json: {} },
    );
    const model = aiSdkModel(createOpenAI({ baseURL: server.url, apiKey }).responses('gpt-5'));
    const parts = await partsOf(model);
    const kept = { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'c2VjcmV0' } };
    expect(parts.slice(0, 4)).toMatchObject([
      { type: 'reasoning-delta', text: 'One.' },
      { type: 'reasoning-end' },
      { type: 'reasoning-delta', text: 'Two.' },
      { type: 'reasoning-end', providerMetadata: kept },
    ]);
    await partsOf(model, {
      ...first,
      messages: [
        ...first.messages,
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'One.', providerMetadata: kept },
            { type: 'reasoning', text: 'Two.', providerMetadata: kept },
            { type: 'tool-call', id: 'call_1', name: 'weather', arguments: { city: 'Rome' } },
          ],
        },
      ],
    });
    expect(server.requests[0]?.body['include']).toEqual(['reasoning.encrypted_content']);
    expect(server.requests[1]?.text).toContain(
      '{"type":"reasoning","id":"rs_1","encrypted_content":"c2VjcmV0","summary":[{"type":"summary_text","text":"One."},{"type":"summary_text","text":"Two."}]}',
    );
  });

  it('of DeepSeek goes back within the turn', async () => {
    const [start, ...rest] = chatEvents({ call });
    server.respond(
      { events: [start, chatChunk({ reasoning_content: 'Rome.' }), ...rest] },
      { status: 500, json: {} },
    );
    const model = aiSdkModel(createDeepSeek({ baseURL: server.url, apiKey })('deepseek-reasoner'));
    expect((await partsOf(model)).slice(0, 2)).toEqual([
      { type: 'reasoning-delta', text: 'Rome.' },
      { type: 'reasoning-end' },
    ]);
    await partsOf(model, {
      ...second,
      messages: second.messages.map((message) =>
        message.role === 'assistant'
          ? { ...message, content: [{ type: 'reasoning', text: 'Rome.' }, ...message.content] }
          : message,
      ),
    });
    expect(server.requests[1]?.text).toContain('"reasoning_content":"Rome."');
  });
});

describe('errors inside a stream that began with HTTP 200', () => {
  it('are what they say', async () => {
    server.respond({
      events: [
        ...anthropicEvents({ text: 'I look.' }).slice(0, 3),
        { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      ],
    });
    const model = aiSdkModel(createAnthropic({ baseURL: server.url, apiKey })('claude-sonnet-4-5'));
    expect((await partsOf(model)).at(-1)).toEqual({
      type: 'error',
      error: {
        code: 'overloaded',
        message: 'anthropic.messages is overloaded or failing (HTTP 529): Overloaded.',
        retryable: true,
      },
    });
  });
});

describe('aiSdkModel', () => {
  it('refuses a window of no size', () => {
    const languageModel = createOpenAI({ apiKey }).chat('gpt-4.1');
    expect(() => aiSdkModel(languageModel, { contextWindowTokens: 0 })).toThrow(TypeError);
    expect(aiSdkModel(languageModel, { contextWindowTokens: 1000 }).contextWindowTokens).toBe(1000);
  });

  it('reports a missing key as a lack of authority', async () => {
    vi.stubEnv('OPENAI_API_KEY', undefined);
    const model = aiSdkModel(createOpenAI({ baseURL: server.url }).chat('gpt-4.1'));
    expect(await partsOf(model)).toMatchObject([
      { type: 'error', error: { code: 'unauthorized', retryable: false } },
    ]);
  });

  it('does not wait for a provider that ignores its signal', async () => {
    const cancelled = Promise.withResolvers<void>();
    const late = Promise.withResolvers<{ stream: ReadableStream<never> }>();
    const languageModel = {
      ...createOpenAI({ apiKey }).chat('gpt-4.1'),
      provider: 'a.provider',
      doStream: () => late.promise,
    };
    const abort = new AbortController();
    const parts = partsOf(aiSdkModel(languageModel as never), first, abort.signal);
    abort.abort();
    expect(await parts).toMatchObject([{ type: 'error', error: { code: 'aborted' } }]);
    late.resolve({ stream: new ReadableStream({ cancel: () => cancelled.resolve() }) });
    await cancelled.promise;
  });
});
