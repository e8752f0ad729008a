import { describe, expect, it } from 'vitest';
import type { Model, ModelMessage, ModelRequest, ModelStreamPart } from './model.ts';
import type { ScriptedPart } from './scripted-answer.ts';
import { scriptedModel } from './scripted-model.ts';

const never = new AbortController().signal;
const request: ModelRequest = {
  system: ['12345678', '1234'],
  tools: [{ name: 'read', description: 'Reads.', inputSchema: {} }],
  messages: [{ role: 'user', text: '123' }],
};
const toolTokens = Math.ceil(JSON.stringify(request.tools[0]).length / 4);
const plus = (...messages: ModelMessage[]): ModelRequest => ({
  ...request,
  messages: [...request.messages, ...messages],
});

function only(message: ModelMessage): ModelRequest {
  return { system: [], tools: [], messages: [message] };
}

async function partsOf(model: Model, asked = request, signal = never): Promise<ModelStreamPart[]> {
  const parts: ModelStreamPart[] = [];
  for await (const part of model.stream(asked, signal)) parts.push(part);
  return parts;
}

async function usageOf(model: Model, asked: ModelRequest) {
  const last = (await partsOf(model, asked)).at(-1);
  return last?.type === 'finish' ? last.usage : undefined;
}

describe('scriptedModel', () => {
  it('streams a reply as reasoning, text in a few deltas, and calls', async () => {
    const model = scriptedModel({
      respond: () => ({
        reasoning: 'hm',
        text: 'Ein 👩‍🚀 für alle.',
        toolCalls: [
          { name: 'read', arguments: { path: 'a' } },
          { name: 'read', arguments: {}, id: 'mine' },
        ],
      }),
    });
    const parts = await partsOf(model);
    const text = parts.flatMap((part) => (part.type === 'text-delta' ? [part.text] : []));
    expect(text.join('')).toBe('Ein 👩‍🚀 für alle.');
    expect(text).toHaveLength(4);
    expect(text.every((piece) => piece.isWellFormed())).toBe(true);
    expect(parts.filter(({ type }) => type !== 'text-delta')).toMatchObject([
      { type: 'reasoning-delta', text: 'h' },
      { type: 'reasoning-delta', text: 'm' },
      { type: 'reasoning-end' },
      { type: 'tool-call', id: 'call-1-1', name: 'read', arguments: { path: 'a' } },
      { type: 'tool-call', id: 'mine', name: 'read', arguments: {} },
      { type: 'finish', reason: 'tool-calls' },
    ]);
  });

  it('tells the script the request and how many came before', async () => {
    const seen: unknown[] = [];
    const model = scriptedModel({
      respond(asked, index) {
        seen.push([asked === request, index]);
        return {};
      },
    });
    await partsOf(model);
    expect(await partsOf(model)).toMatchObject([{ type: 'finish', reason: 'stop' }]);
    expect(seen).toEqual([
      [true, 0],
      [true, 1],
    ]);
  });

  it('counts the longest beginning that an earlier request had as read from the cache', async () => {
    const model = scriptedModel({ respond: () => ({ text: '12345' }) });
    const head = 2 + 1 + toolTokens + 1;
    expect(await usageOf(model, request)).toEqual({
      inputTokens: head,
      cacheReadTokens: 0,
      cacheWriteTokens: head,
      outputTokens: 2,
    });
    const longer = plus({ role: 'user', text: '1234567890' });
    expect(await usageOf(model, longer)).toMatchObject({
      inputTokens: head + 3,
      cacheReadTokens: head,
      cacheWriteTokens: 3,
    });
    const other = plus({ role: 'user', text: '1234567891' });
    expect(await usageOf(model, other)).toMatchObject({ cacheReadTokens: head });
    expect(await usageOf(model, longer)).toMatchObject({ cacheReadTokens: head + 3 });
    const changed = { ...longer, system: ['12345678', '4321'] };
    expect(await usageOf(model, changed)).toMatchObject({ cacheReadTokens: 2 });
  });

  it('shares nothing between a text and the same text in another role', async () => {
    const model = scriptedModel({ respond: () => ({}) });
    await usageOf(model, only({ role: 'user', text: 'same' }));
    const answered = only({ role: 'assistant', content: [{ type: 'text', text: 'same' }] });
    expect(await usageOf(model, answered)).toMatchObject({ inputTokens: 1, cacheReadTokens: 0 });
  });

  it('counts with the function it is given, once for each new unit', async () => {
    const counted: string[] = [];
    const model = scriptedModel({
      respond: () => ({ text: 'ok' }),
      countTokens(text) {
        counted.push(text);
        return 10;
      },
    });
    expect(await usageOf(model, request)).toMatchObject({ inputTokens: 40, outputTokens: 10 });
    expect(await usageOf(model, request)).toMatchObject({ cacheReadTokens: 40 });
    expect(counted.filter((text) => text === '123')).toHaveLength(1);
  });

  it('plays parts as they are, and finishes what the script did not', async () => {
    const error = { code: 'overloaded', message: 'Busy.', retryable: true } as const;
    const scripts: readonly (readonly ScriptedPart[])[] = [
      [{ type: 'text-delta', text: 'a' }],
      [{ type: 'invalid-tool-call', id: '1', name: 'read', argumentsText: '{' }],
      [
        { type: 'error', error },
        { type: 'text-delta', text: 'never' },
      ],
      [
        { type: 'finish', reason: 'max-tokens' },
        { type: 'text-delta', text: 'never' },
      ],
    ];
    const model = scriptedModel({ respond: (_, index) => scripts[index] ?? [] });
    expect(await partsOf(model)).toMatchObject([{ text: 'a' }, { reason: 'stop' }]);
    expect(await partsOf(model)).toMatchObject([{ name: 'read' }, { reason: 'tool-calls' }]);
    expect(await partsOf(model)).toEqual([{ type: 'error', error }]);
    expect(await partsOf(model)).toMatchObject([
      { type: 'finish', reason: 'max-tokens', usage: { outputTokens: 0 } },
    ]);
  });

  it('plays parts as they come', async () => {
    const gate = Promise.withResolvers<void>();
    const model = scriptedModel({
      async *respond() {
        yield { type: 'text-delta', text: 'a' };
        await gate.promise;
        yield { type: 'text-delta', text: 'b' };
      },
    });
    const parts = model.stream(request, never)[Symbol.asyncIterator]();
    expect((await parts.next()).value).toEqual({ type: 'text-delta', text: 'a' });
    gate.resolve();
    expect((await parts.next()).value).toEqual({ type: 'text-delta', text: 'b' });
  });

  it('ends when it is aborted, also while the script waits', async () => {
    const abort = new AbortController();
    const model = scriptedModel({
      async *respond() {
        yield { type: 'text-delta', text: 'a' };
        await Promise.withResolvers<never>().promise;
      },
    });
    const parts: ModelStreamPart[] = [];
    for await (const part of model.stream(request, abort.signal)) {
      parts.push(part);
      abort.abort();
    }
    expect(parts).toMatchObject([{ text: 'a' }, { type: 'error', error: { code: 'aborted' } }]);
  });

  it('ends a reply in the midst of its text when it is aborted there', async () => {
    const abort = new AbortController();
    const model = scriptedModel({ respond: () => ({ text: 'a long answer' }) });
    const parts: ModelStreamPart[] = [];
    for await (const part of model.stream(request, abort.signal)) {
      parts.push(part);
      abort.abort();
    }
    expect(parts.map(({ type }) => type)).toEqual(['text-delta', 'error']);
  });

  it('asks no script once it is aborted', async () => {
    const model = scriptedModel({ respond: () => expect.unreachable() });
    const parts = await partsOf(model, request, AbortSignal.abort());
    expect(parts).toMatchObject([{ type: 'error', error: { code: 'aborted' } }]);
  });

  it('turns what the script throws into an error part', async () => {
    const model = scriptedModel({
      respond() {
        throw new Error('no line left');
      },
    });
    expect(await partsOf(model)).toEqual([
      {
        type: 'error',
        error: { code: 'unknown', message: 'The script failed: no line left', retryable: false },
      },
    ]);
  });
});
