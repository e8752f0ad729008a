import { CarrelError } from '@carrel/code-runtime';

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

/** What a person is told of something that was thrown; never empty. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message === '' ? 'an error without a message' : message;
}
