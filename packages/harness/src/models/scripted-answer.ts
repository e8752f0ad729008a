import type { JsonValue } from '@carrel/code-runtime';
import type { ModelStreamPart, ModelUsage } from './model.ts';

/** A call in a {@link ScriptedReply}. */
export interface ScriptedToolCall {
  readonly name: string;
  readonly arguments: JsonValue;
  /** Default: made of the numbers of the request and of the call, so that no two are equal. */
  readonly id?: string;
}

/** An answer in short: its reasoning, then its text in a few deltas, then its calls. */
export interface ScriptedReply {
  readonly reasoning?: string;
  readonly text?: string;
  readonly toolCalls?: readonly ScriptedToolCall[];
}

/** A part of a model's stream; a `finish` may leave its usage to the scripted model. */
export type ScriptedPart =
  | Exclude<ModelStreamPart, { type: 'finish' }>
  | (Omit<Extract<ModelStreamPart, { type: 'finish' }>, 'usage'> & {
      readonly usage?: ModelUsage;
    });

/** What a script answers. Parts that end without `finish` or `error` get a `finish`. */
export type ScriptedAnswer = ScriptedReply | readonly ScriptedPart[] | AsyncIterable<ScriptedPart>;

const MAX_DELTAS = 4;

/**
 * The parts of a scripted answer, one after the other.
 *
 * @param index - the number of the request, for the ids of its calls
 */
export async function* scriptedParts(
  answer: ScriptedAnswer,
  index: number,
): AsyncGenerator<ScriptedPart, void, undefined> {
  if (isParts(answer)) yield* answer;
  else if (Symbol.asyncIterator in answer) yield* answer;
  else yield* replyParts(answer, index);
}

function isParts(answer: ScriptedAnswer): answer is readonly ScriptedPart[] {
  return Array.isArray(answer);
}

function* replyParts(
  { reasoning = '', text = '', toolCalls = [] }: ScriptedReply,
  index: number,
): Generator<ScriptedPart, void, undefined> {
  if (reasoning !== '') {
    for (const delta of pieces(reasoning)) yield { type: 'reasoning-delta', text: delta };
    yield { type: 'reasoning-end' };
  }
  for (const delta of pieces(text)) yield { type: 'text-delta', text: delta };
  for (const [position, call] of toolCalls.entries()) {
    const { name, arguments: given, id = `call-${index + 1}-${position + 1}` } = call;
    yield { type: 'tool-call', id, name, arguments: given };
  }
}

/** `text` in at most {@link MAX_DELTAS} pieces, none of which is half a character. */
function pieces(text: string): string[] {
  const characters = Array.from(text);
  const size = Math.max(1, Math.ceil(characters.length / MAX_DELTAS));
  const all: string[] = [];
  for (let start = 0; start < characters.length; start += size) {
    all.push(characters.slice(start, start + size).join(''));
  }
  return all;
}
