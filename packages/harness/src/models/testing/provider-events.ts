/** The same answer in each provider's own events: some text, one call, usage with cached input. */
export interface AnswerEvents {
  readonly text?: string;
  readonly call?: { readonly id: string; readonly name: string; readonly argumentsText: string };
}

/** Events of Anthropic's Messages API. Input: 1,000 tokens, 800 of them read, 150 written. */
export function anthropicEvents({ text, call }: AnswerEvents): unknown[] {
  const usage = {
    input_tokens: 50,
    cache_read_input_tokens: 800,
    cache_creation_input_tokens: 150,
    output_tokens: 1,
  };
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  const blocks = [
    ...(text === undefined
      ? []
      : [
          {
            start: { type: 'text', text: '' },
            deltas: halves(text).map((half) => ({ type: 'text_delta', text: half })),
          },
        ]),
    ...(call === undefined
      ? []
      : [
          {
            start: { type: 'tool_use', id: call.id, name: call.name, input: {} },
            deltas: halves(call.argumentsText).map((half) => ({
              type: 'input_json_delta',
              partial_json: half,
            })),
          },
        ]),
  ];
  const stop = call === undefined ? 'end_turn' : 'tool_use';
  return [
    { type: 'message_start', message },
    ...blocks.flatMap(({ start, deltas }, index) => [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: stop, stop_sequence: null },
      usage: { output_tokens: 20 },
    },
    { type: 'message_stop' },
  ];
}

/**
 * Chunks of the chat completions protocol, with OpenAI's usage fields and DeepSeek's. Input: 1,000
 * tokens, 896 of them read.
 */
export function chatEvents({ text, call }: AnswerEvents): unknown[] {
  const callChunks =
    call === undefined
      ? []
      : [
          {
            index: 0,
            id: call.id,
            type: 'function',
            function: { name: call.name, arguments: '' },
          },
          ...halves(call.argumentsText).map((half) => ({
            index: 0,
            function: { arguments: half },
          })),
        ];
  return [
    chatChunk({ role: 'assistant', content: '' }),
    ...halves(text ?? '').map((half) => chatChunk({ content: half })),
    ...callChunks.map((toolCall) => chatChunk({ tool_calls: [toolCall] })),
    chatChunk({}, call === undefined ? 'stop' : 'tool_calls'),
    {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: 'a-model',
      choices: [],
      usage: {
        prompt_tokens: 1000,
        completion_tokens: 20,
        total_tokens: 1020,
        prompt_tokens_details: { cached_tokens: 896 },
        prompt_cache_hit_tokens: 896,
        prompt_cache_miss_tokens: 104,
      },
    },
    '[DONE]',
  ];
}

/** Events of OpenAI's Responses API. Input: 1,000 tokens, 896 of them read. */
export function responsesEvents({ text, call }: AnswerEvents): unknown[] {
  const response = { id: 'resp_1', created_at: 1_700_000_000, model: 'a-model' };
  const message = { type: 'message', id: 'msg_1', role: 'assistant', content: [] };
  const textEvents =
    text === undefined
      ? []
      : [
          { type: 'response.output_item.added', output_index: 0, item: message },
          ...halves(text).map((half) => ({
            type: 'response.output_text.delta',
            item_id: 'msg_1',
            output_index: 0,
            content_index: 0,
            delta: half,
          })),
          { type: 'response.output_item.done', output_index: 0, item: message },
        ];
  const item = { type: 'function_call', id: 'fc_1', call_id: call?.id, name: call?.name };
  const callEvents =
    call === undefined
      ? []
      : [
          {
            type: 'response.output_item.added',
            output_index: 1,
            item: { ...item, arguments: '', status: 'in_progress' },
          },
          ...halves(call.argumentsText).map((half) => ({
            type: 'response.function_call_arguments.delta',
            item_id: 'fc_1',
            output_index: 1,
            delta: half,
          })),
          {
            type: 'response.output_item.done',
            output_index: 1,
            item: { ...item, arguments: call.argumentsText, status: 'completed' },
          },
        ];
  const usage = {
    input_tokens: 1000,
    input_tokens_details: { cached_tokens: 896 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 0 },
  };
  return [
    { type: 'response.created', response },
    { type: 'response.in_progress', response },
    ...textEvents,
    ...callEvents,
    { type: 'response.completed', response: { ...response, incomplete_details: null, usage } },
  ];
}

/** One chunk of the chat completions protocol. */
export function chatChunk(delta: object, finishReason: string | null = null): unknown {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'a-model',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  };
}

function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '');
}
