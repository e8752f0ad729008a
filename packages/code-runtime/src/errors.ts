const BRAND = Symbol.for('carrel.error');

/** What every Carrel error carries besides its message. */
export interface CarrelErrorOptions<Code extends string = string> {
  /** Stable, machine-readable; every code has a row in `docs/errors.md`. */
  readonly code: Code;
  /** Whether the same call may succeed when made again unchanged. Default `false`. */
  readonly retryable?: boolean;
  /** Facts that belong to the code, as plain data. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** The error underneath, if there was one. */
  readonly cause?: unknown;
}

/**
 * Thrown when Carrel's own machinery cannot do its work: a worker that does not start, a full
 * queue, a log that cannot be written. A failed program or a failed tool is a value, never one of
 * these; misuse of an option is a `TypeError`.
 */
export class CarrelError<Code extends string = string> extends Error {
  override readonly name: string = 'CarrelError';
  /** Stable, machine-readable; every code has a row in `docs/errors.md`. */
  readonly code: Code;
  /** Whether the same call may succeed when made again unchanged. */
  readonly retryable: boolean;
  /** Facts that belong to the code. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(message: string, options: CarrelErrorOptions<Code>) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = options.code;
    this.retryable = options.retryable ?? false;
    this.details = options.details ?? {};
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Whether `value` is a Carrel error, also one made by another copy of this package. */
  static isInstance(value: unknown): value is CarrelError {
    try {
      return typeof value === 'object' && value !== null && BRAND in value;
    } catch {
      return false; // A revoked proxy cannot even be asked.
    }
  }
}

/** Codes of {@link CodeRuntimeError}. */
export type CodeRuntimeErrorCode =
  | 'engine-unavailable'
  | 'worker-unavailable'
  | 'queue-full'
  | 'runtime-disposed';

/** A runtime could not take or carry out a run, for a reason that is not the program's. */
export class CodeRuntimeError extends CarrelError<CodeRuntimeErrorCode> {
  override readonly name = 'CodeRuntimeError';
}

/** The message of whatever was thrown; never empty, never throws. */
export function messageOf(error: unknown): string {
  if (typeof error === 'string' && error !== '') return error;
  if (typeof error !== 'object' || error === null) return `thrown: ${String(error)}`;
  return memberText(error, 'message') ?? memberText(error, 'name') ?? 'an error without a message';
}

function memberText(value: object, member: string): string | undefined {
  try {
    const text = (value as Record<string, unknown>)[member];
    return typeof text === 'string' && text !== '' ? text : undefined;
  } catch {
    return undefined; // A getter that throws, or a revoked proxy: it has nothing to tell.
  }
}
