import type { SessionEvent } from './session-events.ts';

/** Where sessions are kept. Every implementation passes the same conformance suite. */
export interface EventStore {
  /**
   * Creates an empty session and takes the exclusive right to append to it.
   *
   * @throws HarnessError `session-exists` when there is one of that id
   */
  create(sessionId: string): Promise<EventLog>;
}

/** One open session, with the exclusive right to append to it. */
export interface EventLog {
  readonly sessionId: string;
  /** Where the log is, for people: a file path, a table row. */
  readonly location: string;
  /**
   * Queues events for writing, in order. They are durable once a later {@link EventLog.flush}
   * resolved. Must not throw: what fails here is for the next flush to tell.
   */
  append(events: readonly SessionEvent[]): void;
  /**
   * Resolves once everything appended before is durable.
   *
   * @throws HarnessError `store-failed`; every later flush fails as well
   */
  flush(): Promise<void>;
  /** Flushes and gives up the right to append. Idempotent. */
  close(): Promise<void>;
}
