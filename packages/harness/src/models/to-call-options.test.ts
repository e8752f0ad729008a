import { describe, expect, it } from 'vitest';
import type { ModelMessage, ModelRequest } from './model.ts';
import { toCallOptions } from './to-call-options.ts';

const empty: ModelRequest = { system: [], tools: [], messages: [] };
const tool = { name: 'read', description: 'Reads.', inputSchema: true };
const user = (text: string): ModelMessage => ({ role: 'user', text });
const answer: ModelMessage = { role: 'assistant', content: [{ type: 'text', text: 'x' }] };
const result = (callId: string): ModelMessage => ({
  role: 'tool',
  callId,
  toolName: 'read',
  isError: false,
  content: [{ type: 'text', text: 'y' }],
});

/** Which messages are marked, by their place in the prompt. */
function marks(request: ModelRequest, provider = 'anthropic.messages'): number[] {
  return toCallOptions(request, provider).prompt.flatMap((message, index) =>
    message.providerOptions === undefined ? [] : [index],
  );
}

describe('cache breakpoints', () => {
  const system = ['stable', 'varying'];

  it('are at both blocks and at the tail of a first request', () => {
    expect(marks({ ...empty, system, messages: [user('a'), user('b')] })).toEqual([0, 1, 3]);
  });

  it('are also where the previous request ended, whatever the step added since', () => {
    const messages = [
      user('a'),
      answer,
      result('1'),
      user('note'),
      answer,
      result('2'),
      result('3'),
    ];
    expect(marks({ ...empty, system, messages })).toEqual([0, 1, 5, 8]);
  });

  it('leave the tail to a provider option that marks it', () => {
    const providerOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } };
    const messages = [user('a'), answer, result('1')];
    expect(marks({ ...empty, system, messages, providerOptions })).toEqual([0, 1, 2]);
  });

  it('are never more than four', () => {
    const messages = [user('a'), answer, user('b'), answer, user('c')];
    expect(marks({ ...empty, system: ['1', '2', '3'], messages })).toEqual([0, 2, 5, 7]);
  });

  it('end the tools when there is no system block', () => {
    const { tools, prompt } = toCallOptions(
      { ...empty, tools: [tool, { ...tool, name: 'write' }], messages: [user('a')] },
      'anthropic.messages',
    );
    expect(tools?.map(({ name }) => name)).toEqual(['read', 'write']);
    expect(tools?.map((each) => 'providerOptions' in each)).toEqual([false, true]);
    expect(prompt).toHaveLength(1);
  });

  it('go to Anthropic behind other clouds, and to nobody else', () => {
    const request = { ...empty, system, messages: [user('a')] };
    expect(marks(request, 'vertex.anthropic.messages')).toEqual([0, 1, 2]);
    for (const provider of ['openai.chat', 'openai.responses', 'deepseek.chat', 'google.vertex']) {
      expect(marks(request, provider)).toEqual([]);
    }
  });
});

describe('toCallOptions', () => {
  it('leaves out what is empty', () => {
    expect(toCallOptions({ ...empty, messages: [user('a')] }, 'a.provider')).toEqual({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }],
    });
  });

  it('leaves out an answer of nothing, which providers refuse', () => {
    const messages: ModelMessage[] = [
      user('a'),
      { role: 'assistant', content: [{ type: 'text', text: '' }] },
      user('b'),
    ];
    const { prompt } = toCallOptions({ ...empty, messages }, 'a.provider');
    expect(prompt.map(({ role }) => role)).toEqual(['user', 'user']);
  });

  it('hands schemas over as they are, and an object for one that allows anything', () => {
    const inputSchema = { $schema: 'x', type: 'object', $defs: {} };
    const tools = [tool, { ...tool, inputSchema }];
    expect(toCallOptions({ ...empty, tools }, 'a.provider').tools).toEqual([
      { type: 'function', name: 'read', description: 'Reads.', inputSchema: { type: 'object' } },
      { type: 'function', name: 'read', description: 'Reads.', inputSchema },
    ]);
  });
});

describe('a tool result', () => {
  const text = { type: 'text', text: 'Line 1\nLine 2' } as const;
  const image = { type: 'image', mediaType: 'image/png', base64: 'aGk=' } as const;
  function output(provider: string, isError: boolean, ...content: (typeof text | typeof image)[]) {
    const messages: ModelMessage[] = [
      { role: 'tool', callId: '1', toolName: 'read', isError, content },
    ];
    const [message] = toCallOptions({ ...empty, messages }, provider).prompt;
    const [part] = message?.role === 'tool' ? message.content : [];
    return part?.type === 'tool-result' ? part.output : undefined;
  }

  it('is one text, without the JSON that clients would make of several', () => {
    expect(output('openai.chat', false, text, text)).toEqual({
      type: 'text',
      value: 'Line 1\nLine 2\nLine 1\nLine 2',
    });
    expect(output('anthropic.messages', false)).toEqual({ type: 'text', value: '' });
  });

  it('says that it is an error where the provider has a word for it', () => {
    const value = 'Line 1\nLine 2';
    expect(output('anthropic.messages', true, text)).toEqual({ type: 'error-text', value });
    expect(output('deepseek.chat', true, text)).toEqual({ type: 'error-text', value });
    expect(output('openai.responses', true, text)).toEqual({ type: 'text', value });
  });

  it('holds its images where the protocol can, and names them where it cannot', () => {
    const shown = {
      type: 'content',
      value: [text, { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'aGk=' } }],
    };
    expect(output('anthropic.messages', false, text, image)).toEqual(shown);
    expect(output('openai.responses', true, text, image)).toEqual(shown);
    expect(output('openai.chat', false, image)).toEqual({
      type: 'text',
      value: '[an image (image/png) that cannot be shown here]',
    });
  });
});
