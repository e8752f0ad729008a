// Everything that host and worker say to each other. A frame is four bytes of length (little
// endian, of the body alone), one byte of kind, and a body of UTF-8 text. The worker is never
// believed: whatever it sends is checked here before the host acts on it.

import type { CodeLogEntry } from '@carrel/code-runtime';
import { encodeLossless, MAX_JSON_DEPTH, type JsonValue } from '@carrel/code-runtime/json';
import type { GuestRunOptions } from './guest/run-options.ts';

/** What a frame is about. */
export const FrameKind = {
  /** To the worker: a {@link RunMessage}; it answers with `report` or `ended`. */
  run: 1,
  /** To the worker: a batch of settlements, handed to the guest unread; answered like `run`. */
  settle: 2,
  /** To the worker, while its guest is quiet: drop the guest; answered with `ready`. */
  drop: 3,
  /** From the worker: a fresh guest waits for a program. Body: {@link ReadyMessage}. */
  ready: 16,
  /** From the worker, before the guest goes on: a console entry. */
  log: 17,
  /** From the worker, before the guest goes on: a call limit is passed; the body says which. */
  callLimit: 18,
  /** From the worker: the guest is quiet. Body: {@link ReportMessage}. */
  report: 19,
  /** From the worker: the engine ended the guest. Body: {@link EndedMessage}. */
  ended: 20,
} as const;

/** A number of {@link FrameKind}. */
export type FrameKindNumber = (typeof FrameKind)[keyof typeof FrameKind];

/** Warnings of one outcome: those told one by one, and one that counts the others. */
const MAX_WARNINGS = 21;

/** Bytes in front of a body. */
export const FRAME_HEADER_BYTES = 5;

/** A program for a worker's waiting guest. */
export interface RunMessage {
  readonly cpuMs: number;
  readonly memoryBytes: number;
  readonly options: GuestRunOptions;
}

/** A worker is ready. */
export interface ReadyMessage {
  readonly engine: string;
  /** Why the engine of first choice is not in use. */
  readonly fallbackReason?: string;
}

/** A guest did this, and is quiet. */
export interface ReportMessage {
  /** Milliseconds of computing since the run began. */
  readonly cpuMs: number;
  readonly report: GuestReport;
}

/** What a guest did since its last report. */
export interface GuestReport {
  readonly calls: readonly GuestCall[];
  readonly timersBegun: readonly { readonly id: number; readonly delayMs: number }[];
  readonly timersEnded: readonly number[];
  /** Present when the program has ended. */
  readonly outcome?: GuestOutcome;
}

/** A call that a program made. */
export interface GuestCall {
  readonly id: number;
  /** Index of the namespace in the run's options. */
  readonly namespace: number;
  /** Index of the member in its namespace. */
  readonly member: number;
  readonly arguments: readonly JsonValue[];
}

/** How a program ended by itself. */
export interface GuestOutcome {
  readonly value?: JsonValue;
  /** Bytes of the value's JSON as UTF-8. */
  readonly valueBytes?: number;
  readonly warnings?: readonly { readonly path: string; readonly message: string }[];
  readonly failure?: {
    readonly kind: 'exception' | 'syntax' | 'invalid-output' | 'output-limit';
    readonly message: string;
    readonly name?: string;
    readonly stack?: string;
    readonly code?: string;
    readonly callId?: number;
  };
}

/** The engine ended a guest that would not end. */
export interface EndedMessage {
  readonly cpuMs: number;
  readonly kind: 'cpu-limit' | 'memory-limit' | 'exception' | 'worker-crash';
  readonly message: string;
}

/** The bytes of one frame. */
export function encodeFrame(kind: FrameKindNumber, body: string): Buffer {
  const bytes = Buffer.byteLength(body);
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + bytes);
  frame.writeUInt32LE(bytes, 0);
  frame.writeUInt8(kind, 4);
  frame.write(body, FRAME_HEADER_BYTES);
  return frame;
}

/** What a worker sent is not of this protocol; the worker is to be killed. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

type Fields = Readonly<Record<string, unknown>>;

function fields(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ProtocolError(`${what} is not an object`);
  }
  return value as Fields;
}

function array(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new ProtocolError(`${what} is not an array`);
  return value;
}

function count(value: unknown, what: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new ProtocolError(`${what} is not a whole number`);
  }
  return value;
}

function milliseconds(value: unknown, what: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
    throw new ProtocolError(`${what} is not a number of milliseconds`);
  }
  return value;
}

function string(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new ProtocolError(`${what} is not a string`);
  return value;
}

function oneOf<Choice extends string>(
  choices: readonly Choice[],
  value: unknown,
  what: string,
): Choice {
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw new ProtocolError(`${what} is none of ${choices.join(', ')}`);
  return found;
}

function atMost(most: number, items: readonly unknown[], what: string): readonly unknown[] {
  if (items.length > most) throw new ProtocolError(`${what} are too many`);
  return items;
}

/** Parsed from JSON text, `value` is a JSON value; here it also nests no deeper than one may. */
function jsonValue(
  value: unknown,
  what: string,
): { readonly value: JsonValue; readonly text: string } {
  try {
    return { value: value as JsonValue, text: encodeLossless(value, MAX_JSON_DEPTH) };
  } catch {
    throw new ProtocolError(`${what} nest too deep`); // Or hold -0: the guest's codec sends neither.
  }
}

function returned(sent: unknown): Pick<GuestOutcome, 'value' | 'valueBytes'> {
  const { value, text } = jsonValue(sent, 'values');
  return { value, valueBytes: Buffer.byteLength(text) };
}

function parse(body: string): Fields {
  try {
    return fields(JSON.parse(body), 'a body');
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    throw new ProtocolError('a body is not JSON');
  }
}

/** Reads the body of a `ready` frame. */
export function readReady(body: string): ReadyMessage {
  const { engine, fallbackReason } = parse(body);
  return {
    engine: string(engine, 'engine'),
    ...(fallbackReason === undefined
      ? {}
      : { fallbackReason: string(fallbackReason, 'fallbackReason') }),
  };
}

/** Reads the body of a `log` frame. */
export function readLog(body: string): CodeLogEntry {
  const { level, text } = parse(body);
  return {
    level: oneOf(['debug', 'log', 'info', 'warn', 'error'], level, 'level'),
    text: string(text, 'text'),
  };
}

/** Reads the body of an `ended` frame. */
export function readEnded(body: string): EndedMessage {
  const { cpuMs, kind, message } = parse(body);
  return {
    cpuMs: milliseconds(cpuMs, 'cpuMs'),
    kind: oneOf(['cpu-limit', 'memory-limit', 'exception', 'worker-crash'], kind, 'kind'),
    message: string(message, 'message'),
  };
}

/** Reads the body of a `report` frame. Whether ids and indexes exist is the run's to check. */
export function readReport(body: string): ReportMessage {
  const { cpuMs, report } = parse(body);
  const { calls, timersBegun, timersEnded, outcome } = fields(report, 'report');
  return {
    cpuMs: milliseconds(cpuMs, 'cpuMs'),
    report: {
      calls: array(calls, 'calls').map(readCall),
      timersBegun: array(timersBegun, 'timersBegun').map((item) => {
        const timer = fields(item, 'timer');
        return {
          id: count(timer['id'], 'timer id'),
          delayMs: milliseconds(timer['delayMs'], 'delayMs'),
        };
      }),
      timersEnded: array(timersEnded, 'timersEnded').map((id) => count(id, 'timer id')),
      ...(outcome === undefined ? {} : { outcome: readOutcome(outcome) }),
    },
  };
}

function readCall(value: unknown): GuestCall {
  const call = fields(value, 'call');
  return {
    id: count(call['id'], 'call id'),
    namespace: count(call['namespace'], 'namespace'),
    member: count(call['member'], 'member'),
    arguments: array(
      jsonValue(call['arguments'], 'arguments').value,
      'arguments',
    ) as readonly JsonValue[],
  };
}

function readOutcome(value: unknown): GuestOutcome {
  const outcome = fields(value, 'outcome');
  const { failure, warnings } = outcome;
  return {
    ...('value' in outcome ? returned(outcome['value']) : {}),
    ...(warnings === undefined
      ? {}
      : {
          warnings: atMost(MAX_WARNINGS, array(warnings, 'warnings'), 'warnings').map((item) => {
            const warning = fields(item, 'warning');
            return {
              path: string(warning['path'], 'path'),
              message: string(warning['message'], 'message'),
            };
          }),
        }),
    ...(failure === undefined ? {} : { failure: readFailure(failure) }),
  };
}

function readFailure(value: unknown): NonNullable<GuestOutcome['failure']> {
  const failure = fields(value, 'failure');
  const text = (key: 'name' | 'stack' | 'code'): Record<string, string> =>
    failure[key] === undefined ? {} : { [key]: string(failure[key], key) };
  return {
    kind: oneOf(['exception', 'syntax', 'invalid-output', 'output-limit'], failure['kind'], 'kind'),
    message: string(failure['message'], 'message'),
    ...text('name'),
    ...text('stack'),
    ...text('code'),
    ...(failure['callId'] === undefined ? {} : { callId: count(failure['callId'], 'callId') }),
  };
}
