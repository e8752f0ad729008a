import { CarrelError, messageOf } from '@carrel/code-runtime';

/** Codes of {@link HarnessError}. */
export type HarnessErrorCode =
  /** The store has a session of that id already. */
  | 'session-exists'
  /** The log could not be written or made durable; the session can go no further. */
  | 'store-failed'
  /** A fact that JSON cannot say without loss was to be logged. */
  | 'event-not-json'
  /** What was about to be sent is not what the log says; nothing was sent. */
  | 'request-mismatch'
  /** The tool set cannot be presented; the cause says why. */
  | 'tools-misconfigured'
  /** A hook threw, or answered with what its chain does not take. */
  | 'hook-failed'
  /** A turn took as many steps as it may. */
  | 'step-limit'
  /** The provider's filter withheld the answer. */
  | 'content-filter'
  /** The agent is disposed and takes nothing up any more. */
  | 'agent-disposed'
  /** A defect of the harness itself, or of a model that threw before it gave a stream. */
  | 'unexpected';

/** The harness could not do its work. Inside a turn it is the turn's end, not an exception. */
export class HarnessError extends CarrelError<HarnessErrorCode> {
  override readonly name = 'HarnessError';
}

/** Whether it is an error; never throws. */
export function isError(error: unknown): error is Error {
  try {
    return error instanceof Error;
  } catch {
    return false; // A revoked proxy cannot even be asked what it is.
  }
}

/** The code of a Carrel error, `unexpected` of whatever else was thrown; never throws. */
export function codeOf(error: unknown): string {
  return CarrelError.isInstance(error) ? error.code : 'unexpected';
}

/** Tells of what a spectator threw as loudly as is harmless: it must not change what happens. */
export function warnOf(error: unknown): void {
  process.emitWarning(messageOf(error));
}
