import { encodeOutput } from '@carrel/code-runtime/json';
import { byteLength } from './byte-length.ts';
import { formatArguments } from './format-value.ts';
import { ErrorClass, slice, stringify, text } from './intrinsics.ts';

/** Characters of a message or a stack that leave the guest. */
const MAX_TEXT = 16_384;
/** Conversions that are told one by one. */
const MAX_WARNINGS = 20;

function bounded(whole: string): string {
  return whole.length > MAX_TEXT ? `${slice(whole, 0, MAX_TEXT)}…` : whole;
}

/** What `look` finds, or `undefined`: whatever the program threw may throw when it is looked at. */
function attempt(look: () => unknown): string | undefined {
  try {
    const found = look();
    return typeof found === 'string' ? bounded(found) : undefined;
  } catch {
    return undefined; // As good as absent.
  }
}

/** Conversions of a value, as the text of a JSON array. */
class Warnings {
  #list = '';
  #count = 0;

  add(path: string, message: string): void {
    this.#count += 1;
    if (this.#count <= MAX_WARNINGS) this.#append(path, message);
  }

  list(): string {
    const more = this.#count - MAX_WARNINGS;
    if (more > 0) this.#append('$', `${text(more)} more values were converted`);
    return `[${this.#list}]`;
  }

  #append(path: string, message: string): void {
    const separator = this.#list === '' ? '' : ',';
    this.#list += `${separator}{"path":${stringify(path)},"message":${stringify(message)}}`;
  }
}

// Everything below is written field by field: an object would be asked for its `toJSON`, which the
// program may have put on `Object.prototype`.

/**
 * How the program ended, as the text of a JSON object.
 *
 * @param value - what it returned
 * @param bytesLeft - what is left of the output limit
 */
export function valueOutcome(value: unknown, bytesLeft: number, maxOutputBytes: number): string {
  const warnings = new Warnings();
  let valueText: string | undefined;
  try {
    valueText = encodeOutput(value, (path, message) => warnings.add(path, message));
  } catch (reason) {
    return failureOutcome('invalid-output', reason, undefined);
  }
  if (valueText === undefined) return `{"warnings":${warnings.list()}}`;
  const bytes = byteLength(valueText);
  if (bytes <= bytesLeft) return `{"value":${valueText},"warnings":${warnings.list()}}`;
  const used = maxOutputBytes - bytesLeft;
  const message = `The returned value is ${bytes} bytes of JSON and the logs ${used}; together at most ${maxOutputBytes} are kept`;
  return `{"failure":{"kind":"output-limit","message":${stringify(message)}}}`;
}

/** A failure that the program itself ended with, as the text of a JSON object. */
export function failureOutcome(
  kind: 'exception' | 'syntax' | 'invalid-output',
  reason: unknown,
  callId: number | undefined,
): string {
  let fields = `"kind":"${kind}"`;
  const add = (name: string, value: string | undefined): void => {
    if (value !== undefined) fields += `,"${name}":${stringify(value)}`;
  };
  if (isError(reason)) {
    add('message', attempt(() => reason.message) ?? '');
    add(
      'name',
      attempt(() => reason.name),
    );
    add(
      'stack',
      attempt(() => reason.stack),
    );
    add(
      'code',
      attempt(() => (reason as { code?: unknown }).code),
    );
  } else {
    add('message', attempt(() => formatArguments([reason])) ?? '[unreadable]');
  }
  if (callId !== undefined) fields += `,"callId":${text(callId)}`;
  return `{"failure":{${fields}}}`;
}

function isError(reason: unknown): reason is Error {
  try {
    return reason instanceof ErrorClass;
  } catch {
    return false; // A revoked Proxy, or one whose trap throws.
  }
}
