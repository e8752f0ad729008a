import { messageOf } from '@carrel/code-runtime';
import type {
  AssistantPart,
  ModelError,
  ModelFinishReason,
  ModelStreamPart,
  ModelUsage,
} from '../models/model.ts';
import { untilAborted } from '../until-aborted.ts';
import { readToolCall } from './requested-call.ts';
import type { RequestedCall } from './requested-call.ts';
import { ResponseParts } from './response-parts.ts';

/** How a model's stream ended. */
type ResponseEnd =
  | { readonly type: 'finish'; readonly reason: ModelFinishReason; readonly usage: ModelUsage }
  | { readonly type: 'error'; readonly error: ModelError }
  | { readonly type: 'interrupted' };

/** What came out of a model's stream until it ended. */
export interface ModelResponse {
  /** Text and reasoning as they are; calls with arguments that a provider takes back. */
  readonly content: readonly AssistantPart[];
  /** The calls of `content`, in order. */
  readonly calls: readonly RequestedCall[];
  readonly end: ResponseEnd;
}

/**
 * Reads a model's stream to its end, or to the abort of `signal`, also when the model ignores that.
 * Never rejects because of the stream: one that throws, or stops without saying how, is a model
 * that failed.
 *
 * @param onText - gets each piece of text as it comes
 */
export async function readResponse(
  stream: AsyncIterable<ModelStreamPart>,
  signal: AbortSignal,
  onText: (text: string) => void,
): Promise<ModelResponse> {
  const parts = new ResponseParts();
  const calls: RequestedCall[] = [];
  let iterator: AsyncIterator<ModelStreamPart> | undefined;
  const response = (end: ResponseEnd): ModelResponse => ({ content: parts.content, calls, end });
  try {
    for (;;) {
      const read = await nextPart((iterator ??= stream[Symbol.asyncIterator]()), signal);
      // What a cancel made of the stream, its errors included, is not the model's doing.
      if (read === 'aborted') return response({ type: 'interrupted' });
      switch (read.type) {
        case 'text-delta':
          parts.addText(read.text);
          if (read.text !== '') onText(read.text);
          break;
        case 'reasoning-delta':
          parts.addReasoning(read.text);
          break;
        case 'reasoning-end':
          parts.endReasoning(read.providerMetadata);
          break;
        case 'tool-call':
        case 'invalid-tool-call': {
          const call = readToolCall(read, calls);
          calls.push(call);
          parts.addCall(call);
          break;
        }
        case 'finish':
        case 'error':
          return response(read);
      }
    }
  } finally {
    // A model that hangs must not keep the turn waiting; what its end still throws is nobody's.
    iterator?.return?.()?.catch(() => {});
  }
}

async function nextPart(
  iterator: AsyncIterator<ModelStreamPart>,
  signal: AbortSignal,
): Promise<ModelStreamPart | 'aborted'> {
  try {
    const read = await untilAborted(iterator.next(), signal);
    if (read.aborted) return 'aborted';
    if (read.value.done !== true) return read.value.value;
    return failed('its stream ended without saying how', true);
  } catch (error) {
    if (signal.aborted) return 'aborted';
    return failed(`it threw instead of answering: ${messageOf(error)}`, false);
  }
}

function failed(what: string, retryable: boolean): ModelStreamPart {
  const message = `The model failed: ${what}.`;
  return { type: 'error', error: { code: 'unknown', message, retryable } };
}
