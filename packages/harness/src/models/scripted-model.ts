import { messageOf } from '@carrel/code-runtime';
import { AbortRace } from './abort-race.ts';
import type { Model, ModelRequest, ModelStreamPart, ModelUsage } from './model.ts';
import { scriptedParts } from './scripted-answer.ts';
import type { ScriptedAnswer, ScriptedPart } from './scripted-answer.ts';
import { renderPart, SimulatedPromptCache } from './simulated-prompt-cache.ts';
import type { CountTokens } from './simulated-prompt-cache.ts';

/** Options of {@link scriptedModel}. */
export interface ScriptedModelOptions {
  /** @default 'scripted/model' */
  readonly id?: string;
  /** @default 128000 */
  readonly contextWindowTokens?: number;
  /**
   * Answers a request. What it throws becomes an `error` part.
   *
   * @param index - how many requests this model had before, from 0
   */
  respond(request: ModelRequest, index: number): ScriptedAnswer;
  /** Default: a quarter of the characters, rounded up. */
  countTokens?(text: string): number;
}

/**
 * A model that answers by a script: for tests, and for demos without a key.
 *
 * Its usage is **simulated**: tokens are counted by `countTokens` over the system blocks, tools and
 * messages of the request, and `cacheReadTokens` are those of the longest beginning, in whole
 * blocks, tools and messages, that an earlier request to this same model had as well. All other
 * input tokens count as written to that cache. Equal requests in equal order give equal figures;
 * no provider was asked.
 */
export function scriptedModel(options: ScriptedModelOptions): Model {
  const countTokens = options.countTokens?.bind(options) ?? quarterOfCharacters;
  const cache = new SimulatedPromptCache(countTokens);
  let requests = 0;
  return {
    id: options.id ?? 'scripted/model',
    contextWindowTokens: options.contextWindowTokens ?? 128_000,
    stream(request, signal) {
      const index = requests;
      requests += 1;
      const usage = simulatedUsage(cache, request);
      const answer = (): ScriptedAnswer => options.respond(request, index);
      return play(answer, { index, usage, countTokens, signal });
    },
  };
}

interface Playing {
  readonly index: number;
  /** Without the output, which is not known yet. */
  readonly usage: ModelUsage;
  readonly countTokens: CountTokens;
  readonly signal: AbortSignal;
}

async function* play(
  answer: () => ScriptedAnswer,
  { index, usage, countTokens, signal }: Playing,
): AsyncGenerator<ModelStreamPart, void, undefined> {
  const race = new AbortRace(signal);
  let output = '';
  let calls = 0;
  try {
    signal.throwIfAborted();
    const parts = scriptedParts(answer(), index)[Symbol.asyncIterator]();
    const withOutput = (): ModelUsage => ({ ...usage, outputTokens: countTokens(output) });
    try {
      for (;;) {
        const { done, value: part } = await race.run(parts.next());
        signal.throwIfAborted();
        if (done === true) break;
        if (part.type === 'finish') {
          yield { ...part, usage: part.usage ?? withOutput() };
          return;
        }
        yield part;
        if (part.type === 'error') return;
        output += outputOf(part);
        if (part.type === 'tool-call' || part.type === 'invalid-tool-call') calls += 1;
      }
    } finally {
      // A script that waits for something would keep its end waiting as well.
      parts.return?.().catch(() => {});
    }
    yield { type: 'finish', reason: calls > 0 ? 'tool-calls' : 'stop', usage: withOutput() };
  } catch (error) {
    yield { type: 'error', error: failure(error, signal.aborted) };
  } finally {
    race.dispose();
  }
}

function simulatedUsage(cache: SimulatedPromptCache, request: ModelRequest): ModelUsage {
  const { inputTokens, cacheReadTokens } = cache.read(request);
  const cacheWriteTokens = inputTokens - cacheReadTokens;
  return { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens: 0 };
}

function outputOf(part: ScriptedPart): string {
  switch (part.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return part.text;
    case 'tool-call':
      return renderPart(part);
    case 'invalid-tool-call':
      return `${part.name} ${part.argumentsText}`;
    default:
      return '';
  }
}

function failure(
  error: unknown,
  aborted: boolean,
): Extract<ModelStreamPart, { type: 'error' }>['error'] {
  if (aborted) return { code: 'aborted', message: 'The request was aborted.', retryable: false };
  const message = `The script failed: ${messageOf(error)}`;
  return { code: 'unknown', message, retryable: false };
}

function quarterOfCharacters(text: string): number {
  return Math.ceil(text.length / 4);
}
