import type { LanguageModelV4 } from '@ai-sdk/provider';
import { AbortRace } from './abort-race.ts';
import type { Model, ModelError, ModelRequest, ModelStreamPart } from './model.ts';
import { toModelError } from './model-failure.ts';
import { readStream } from './read-stream.ts';
import { toCallOptions } from './to-call-options.ts';

/** Options of {@link aiSdkModel}. */
export interface AiSdkModelOptions {
  /**
   * Tokens of input and output that fit together; the AI SDK does not tell.
   *
   * @default 128000
   */
  readonly contextWindowTokens?: number;
}

/**
 * A model of any `@ai-sdk/*` provider, such as `createAnthropic()('claude-…')`. Its id is the
 * provider's name, a slash, and the model's id: `openai.chat/gpt-…`.
 *
 * Uses the provider interface alone: nothing of the AI SDK's own loop, retries or prompt handling
 * takes part. System blocks are as many system messages. To Anthropic, and to no one else, cache
 * breakpoints are sent. OpenAI's responses are asked for with `store: false` unless the request's
 * provider options say otherwise, so that every request is complete.
 *
 * @throws TypeError when `contextWindowTokens` is no positive integer, or the model is of another
 *   interface version than `v4`
 */
export function aiSdkModel(
  languageModel: LanguageModelV4,
  { contextWindowTokens = 128_000 }: AiSdkModelOptions = {},
): Model {
  if (!Number.isSafeInteger(contextWindowTokens) || contextWindowTokens <= 0) {
    throw new TypeError(
      `contextWindowTokens must be a positive integer, not ${contextWindowTokens}`,
    );
  }
  // Plain JavaScript may hand in anything; another version would fail in the midst of a turn.
  const version: string = languageModel.specificationVersion;
  if (version !== 'v4') {
    throw new TypeError(`a language model of interface version v4 is needed, not ${version}`);
  }
  return {
    id: `${languageModel.provider}/${languageModel.modelId}`,
    contextWindowTokens,
    stream: (request, signal) => streamRequest(languageModel, request, signal),
  };
}

async function* streamRequest(
  languageModel: LanguageModelV4,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelStreamPart, void, undefined> {
  const { provider } = languageModel;
  const describe = (failure: unknown): ModelError =>
    toModelError(failure, { provider, aborted: signal.aborted });
  const race = new AbortRace(signal);
  try {
    signal.throwIfAborted();
    const pending = Promise.resolve(
      languageModel.doStream({ ...toCallOptions(request, provider), abortSignal: signal }),
    );
    const { stream } = await race.run(pending).catch((error: unknown) => {
      // A provider that does not heed the signal answers later: nobody will read it.
      pending.then((late) => late.stream.cancel()).catch(() => {});
      throw error;
    });
    yield* readStream(stream, { race, describe });
  } catch (error) {
    yield { type: 'error', error: describe(error) };
  } finally {
    race.dispose();
  }
}
