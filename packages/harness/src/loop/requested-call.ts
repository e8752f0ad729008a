import type { JsonValue } from '@carrel/code-runtime';
import { encodeArgument, parseJson } from '@carrel/code-runtime/json';
import { messageOf } from '@carrel/code-runtime';
import type { ModelStreamPart } from '../models/model.ts';

/** A call as a model asked for it. */
export interface RequestedCall {
  /** Different from those of the other calls of the same answer. */
  readonly id: string;
  readonly name: string;
  /** An object; for a call that cannot run, the text that came instead of one. */
  readonly arguments: JsonValue;
  /** Why it cannot run, when it cannot. */
  readonly problem?: string;
}

type CallPart = Extract<ModelStreamPart, { type: 'tool-call' | 'invalid-tool-call' }>;

/** Characters of broken arguments that the model is shown again. */
const MAX_SHOWN_LENGTH = 500;

/**
 * Reads one call of an answer.
 *
 * @param before - the calls of the same answer so far
 */
export function readToolCall(part: CallPart, before: readonly RequestedCall[]): RequestedCall {
  const { name } = part;
  const id = uniqueId(part.id, before);
  if (part.type === 'invalid-tool-call') return invalid(id, name, part.argumentsText);
  try {
    // As a log gives them back: `-0` is 0, and they nest no deeper than a value may.
    const args = parseJson(encodeArgument(part.arguments) ?? 'null');
    if (typeof args === 'object' && args !== null && !Array.isArray(args)) {
      return { id, name, arguments: args };
    }
    const text = JSON.stringify(args);
    return { id, name, arguments: text, problem: problemOf(name, 'are not an object', text) };
  } catch (error) {
    const problem = problemOf(name, `cannot be read (${messageOf(error)})`, undefined);
    return { id, name, arguments: {}, problem };
  }
}

function invalid(id: string, name: string, argumentsText: string): RequestedCall {
  let what = 'are not JSON';
  try {
    parseJson(argumentsText);
  } catch (error) {
    what = `are not JSON (${messageOf(error)})`;
  }
  return {
    id,
    name,
    arguments: argumentsText,
    problem: problemOf(name, what, argumentsText),
  };
}

function problemOf(name: string, what: string, text: string | undefined): string {
  const shown = text === undefined ? '' : ` They were: ${text.slice(0, MAX_SHOWN_LENGTH)}`;
  const cut = text !== undefined && text.length > MAX_SHOWN_LENGTH ? '…' : '';
  return `The arguments of \`${name}\` ${what}; it was not called. Send one JSON object.${shown}${cut}`;
}

/** Some models number the calls of each answer alike; two of one answer would share a result. */
function uniqueId(id: string, before: readonly RequestedCall[]): string {
  const taken = new Set(before.map((call) => call.id));
  if (!taken.has(id)) return id;
  let count = 2;
  while (taken.has(`${id}_${count}`)) count += 1;
  return `${id}_${count}`;
}
