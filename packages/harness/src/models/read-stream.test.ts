import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { AbortRace } from './abort-race.ts';
import type { ModelError, ModelStreamPart } from './model.ts';
import { readStream } from './read-stream.ts';

const usage: LanguageModelV4Usage = {
  inputTokens: { total: undefined, noCache: 7, cacheRead: 2, cacheWrite: undefined },
  outputTokens: { total: undefined, text: 3, reasoning: 1 },
};

function finish(
  unified: Extract<LanguageModelV4StreamPart, { type: 'finish' }>['finishReason']['unified'],
): LanguageModelV4StreamPart {
  return { type: 'finish', finishReason: { unified, raw: unified }, usage };
}

function call(id: string, input: string): LanguageModelV4StreamPart {
  return { type: 'tool-call', toolCallId: id, toolName: 'read', input };
}

function describeFailure(failure: unknown): ModelError {
  return { code: 'unknown', message: String(failure), retryable: false };
}

async function read(...given: LanguageModelV4StreamPart[]): Promise<ModelStreamPart[]> {
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    start(controller) {
      for (const part of given) controller.enqueue(part);
      controller.close();
    },
  });
  const race = new AbortRace(new AbortController().signal);
  const parts: ModelStreamPart[] = [];
  for await (const part of readStream(stream, { race, describe: describeFailure })) {
    parts.push(part);
  }
  return parts;
}

describe('readStream', () => {
  it('counts what the provider left uncounted', async () => {
    expect(await read(finish('stop'))).toEqual([
      {
        type: 'finish',
        reason: 'stop',
        usage: { inputTokens: 9, cacheReadTokens: 2, cacheWriteTokens: 0, outputTokens: 4 },
      },
    ]);
  });

  it.each([
    ['length', 'max-tokens'],
    ['content-filter', 'content-filter'],
    ['tool-calls', 'tool-calls'],
    ['other', 'other'],
  ] as const)('finishes %s as %s', async (unified, reason) => {
    expect(await read(finish(unified))).toMatchObject([{ type: 'finish', reason }]);
  });

  it('finishes with its calls also where the provider just says that it stopped', async () => {
    const parts = await read(call('1', '{"a":1}'), finish('stop'));
    expect(parts).toMatchObject([{ arguments: { a: 1 } }, { reason: 'tool-calls' }]);
  });

  it('keeps a call that ran into the token limit apart from whole ones', async () => {
    const parts = await read(call('1', '{"a":1}'), call('2', '{"a":'), finish('length'));
    expect(parts).toMatchObject([
      { type: 'tool-call', id: '1' },
      { type: 'invalid-tool-call', id: '2', argumentsText: '{"a":' },
      { type: 'finish', reason: 'max-tokens' },
    ]);
  });

  it.each([
    finish('interrupted'),
    {
      ...finish('other'),
      finishReason: { unified: 'other', raw: undefined },
    } as LanguageModelV4StreamPart,
  ])('drops a call that may be cut when the stream breaks off', async (end) => {
    const parts = await read(call('1', ''), call('2', '{"a":'), end);
    expect(parts).toMatchObject([{ type: 'error', error: { message: 'undefined' } }]);
  });

  it('leaves calls alone that the provider carried out itself', async () => {
    const own = { ...call('1', '{}'), providerExecuted: true } as LanguageModelV4StreamPart;
    expect(await read(own, finish('stop'))).toMatchObject([{ type: 'finish', reason: 'stop' }]);
  });

  it('gives arguments the form that the log would give back', async () => {
    const parts = await read(
      call('1', String.raw`{"n":-0,"s":"\ud800","__proto__":1}`),
      finish('stop'),
    );
    const [part] = parts;
    const given = part?.type === 'tool-call' ? part.arguments : undefined;
    expect(JSON.stringify(given)).toBe('{"n":0,"s":"\ufffd","__proto__":1}');
    expect(given).not.toMatchObject({ n: -0 });
    const deep = '['.repeat(600) + ']'.repeat(600);
    expect(await read(call('1', deep), finish('stop'))).toMatchObject([
      { type: 'invalid-tool-call' },
      { type: 'finish' },
    ]);
  });

  it('ends the reasoning that the provider left open', async () => {
    const parts = await read(
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'hm' },
      finish('stop'),
    );
    expect(parts.map(({ type }) => type)).toEqual(['reasoning-delta', 'reasoning-end', 'finish']);
  });

  it('says nothing of reasoning that is neither text nor metadata', async () => {
    const parts = await read(
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-end', id: 'r' },
      finish('stop'),
    );
    expect(parts.map(({ type }) => type)).toEqual(['finish']);
  });

  it('ends with the error that the provider puts into the stream', async () => {
    const parts = await read({ type: 'error', error: 'busy' }, finish('stop'));
    expect(parts).toMatchObject([{ type: 'error', error: { message: 'busy' } }]);
  });
});
