import { encodeOutput } from '@carrel/code-runtime/json';
import { byteLength } from './byte-length.ts';
import { formatArguments } from './format-value.ts';
import { ErrorClass, stringify, text } from './intrinsics.ts';

/** Characters of a message or a stack that leave the guest. */
const MAX_TEXT = 16_384;

function bounded(value: unknown): string {
  const whole = text(value);
  return whole.length > MAX_TEXT ? `${whole.slice(0, MAX_TEXT)}…` : whole;
}

/** Reads a property of whatever the program threw; it may be a getter that throws. */
function read(value: object, property: string): string | undefined {
  try {
    const found = (value as Record<string, unknown>)[property];
    return typeof found === 'string' ? bounded(found) : undefined;
  } catch {
    return undefined; // As good as absent.
  }
}

/**
 * How the program ended, as the text of a JSON object.
 *
 * @param value - what it returned
 * @param bytesLeft - what is left of the output limit
 */
export function valueOutcome(value: unknown, bytesLeft: number, maxOutputBytes: number): string {
  const warnings: { path: string; message: string }[] = [];
  let valueText: string | undefined;
  try {
    valueText = encodeOutput(value, (path, message) => {
      warnings[warnings.length] = { path, message };
    });
  } catch (reason) {
    return failureOutcome('invalid-output', reason, undefined);
  }
  if (valueText === undefined) return `{"warnings":${stringify(warnings)}}`;
  const bytes = byteLength(valueText);
  if (bytes > bytesLeft) {
    const used = maxOutputBytes - bytesLeft;
    return stringify({
      failure: {
        kind: 'output-limit',
        message: `The returned value is ${bytes} bytes of JSON and the logs ${used}; together at most ${maxOutputBytes} are kept`,
      },
    });
  }
  return `{"value":${valueText},"warnings":${stringify(warnings)}}`;
}

/** A failure that the program itself ended with, as the text of a JSON object. */
export function failureOutcome(
  kind: 'exception' | 'syntax' | 'invalid-output',
  reason: unknown,
  callId: number | undefined,
): string {
  const isError = reason instanceof ErrorClass;
  const message = isError ? read(reason, 'message') : bounded(formatArguments([reason]));
  return stringify({
    failure: {
      kind,
      message: message ?? '',
      ...(isError
        ? { name: read(reason, 'name'), stack: read(reason, 'stack'), code: read(reason, 'code') }
        : {}),
      callId,
    },
  });
}
