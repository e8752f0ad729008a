import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { encodeLossless, parseJson } from '@carrel/code-runtime';
import type { JsonValue } from '@carrel/code-runtime';
import type { AbortRace } from './abort-race.ts';
import type { ModelError, ModelFinishReason, ModelStreamPart, ModelUsage } from './model.ts';
import { ReasoningBlocks } from './reasoning-blocks.ts';

/** What {@link readStream} is told besides the stream. */
export interface ReadStreamOptions {
  /** Ends a read that would wait on. */
  readonly race: AbortRace;
  /** Puts a failure of the provider into words; `undefined` for an answer that just broke off. */
  readonly describe: (failure: unknown) => ModelError;
}

/**
 * A provider's stream as a model's: ends with `finish`, or with `error` when the provider says so
 * or the stream breaks off. A tool call goes out only when it is certain to be whole.
 *
 * @throws whatever the stream fails with, and when the race is lost
 */
export async function* readStream(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  { race, describe }: ReadStreamOptions,
): AsyncGenerator<ModelStreamPart, void, undefined> {
  const reader = stream.getReader();
  const reasoning = new ReasoningBlocks();
  // Clients hand out what they have of a call when the stream breaks off. Arguments that are a
  // JSON text are whole; others are so only once the provider has said that it is done.
  const uncertain: ToolCallPart[] = [];
  let calls = 0;
  let finished = false;
  try {
    for (;;) {
      const { done, value: part } = await race.run(reader.read());
      if (done) {
        yield { type: 'error', error: describe(undefined) };
        return;
      }
      switch (part.type) {
        case 'text-delta':
          if (part.delta !== '') yield { type: 'text-delta', text: part.delta };
          break;
        case 'reasoning-start':
          yield* reasoning.add(part.id, '', part.providerMetadata);
          break;
        case 'reasoning-delta':
          yield* reasoning.add(part.id, part.delta, part.providerMetadata);
          break;
        case 'reasoning-end':
          yield* reasoning.end(part.id, part.providerMetadata);
          break;
        case 'tool-call': {
          if (part.providerExecuted === true) break;
          calls += 1;
          const call = toToolCall(part);
          const certain = call.type === 'tool-call' && part.input.trim() !== '';
          if (certain && uncertain.length === 0) yield call;
          else uncertain.push(call);
          break;
        }
        case 'error':
          yield { type: 'error', error: describe(part.error) };
          return;
        case 'finish': {
          if (brokeOff(part.finishReason)) {
            yield { type: 'error', error: describe(undefined) };
            return;
          }
          finished = true;
          yield* reasoning.endAll();
          yield* uncertain;
          const reason = toFinishReason(part.finishReason, calls);
          yield { type: 'finish', reason, usage: toUsage(part.usage) };
          return;
        }
        default: // Sources, files, warnings and the like: a model's stream does not know them.
      }
    }
  } finally {
    // After the finish only the end of the response is left; reading it keeps the connection.
    // Nobody is told of a failure: what happens to the rest concerns no one any more.
    const rest = finished ? drain(reader) : reader.cancel();
    rest.catch(() => {});
  }
}

async function drain(reader: ReadableStreamDefaultReader<unknown>): Promise<void> {
  while (!(await reader.read()).done);
}

type ToolCallPart = Extract<ModelStreamPart, { type: 'tool-call' | 'invalid-tool-call' }>;

function toToolCall({
  toolCallId: id,
  toolName: name,
  input,
}: LanguageModelV4ToolCall): ToolCallPart {
  const parsed = parseArguments(input);
  if (parsed === undefined) return { type: 'invalid-tool-call', id, name, argumentsText: input };
  return { type: 'tool-call', id, name, arguments: parsed };
}

function parseArguments(text: string): JsonValue | undefined {
  // Some providers say nothing for no arguments.
  if (text.trim() === '') return {};
  try {
    // The log must give it back as it is: so it is what the log would give back.
    return parseJson(encodeLossless(parseJson(JSON.stringify(parseJson(text)))));
  } catch {
    return undefined; // No JSON, or nested too deep to be logged.
  }
}

function brokeOff({ unified, raw }: LanguageModelV4FinishReason): boolean {
  // Older clients have no `interrupted`: they give the reason they began with.
  return unified === 'interrupted' || (unified === 'other' && raw === undefined);
}

function toFinishReason(
  { unified }: LanguageModelV4FinishReason,
  calls: number,
): ModelFinishReason {
  switch (unified) {
    case 'length':
      return 'max-tokens';
    case 'stop':
      return calls > 0 ? 'tool-calls' : 'stop';
    case 'tool-calls':
    case 'content-filter':
      return unified;
    default:
      return 'other';
  }
}

function toUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): ModelUsage {
  const { total, noCache = 0, cacheRead = 0, cacheWrite = 0 } = inputTokens;
  return {
    inputTokens: total ?? noCache + cacheRead + cacheWrite,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    outputTokens: outputTokens.total ?? (outputTokens.text ?? 0) + (outputTokens.reasoning ?? 0),
  };
}
