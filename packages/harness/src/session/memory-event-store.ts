import { HarnessError } from '../errors.ts';
import type { EventLog, EventStore } from './event-store.ts';
import { decodeEvent, encodeEvent } from './event-text.ts';
import type { SessionEvent } from './session-events.ts';

/** A store whose sessions end with the process: for tests, and for sessions that nobody keeps. */
export interface MemoryEventStore extends EventStore {
  /** The events of a session up to its last flush; empty for one that does not exist. */
  read(sessionId: string): readonly SessionEvent[];
}

/** Makes a store in memory. It keeps what a file would: the text of what was flushed. */
export function memoryEventStore(): MemoryEventStore {
  const sessions = new Map<string, string[]>();
  return {
    create(sessionId) {
      if (sessions.has(sessionId)) {
        const message = `There is a session ${JSON.stringify(sessionId)} already`;
        return Promise.reject(new HarnessError(message, { code: 'session-exists' }));
      }
      const texts: string[] = [];
      sessions.set(sessionId, texts);
      return Promise.resolve(new MemoryEventLog(sessionId, texts));
    },
    read: (sessionId) => (sessions.get(sessionId) ?? []).map(decodeEvent),
  };
}

class MemoryEventLog implements EventLog {
  readonly sessionId: string;
  readonly location: string;
  readonly #durable: string[];
  readonly #pending: string[] = [];
  #closed = false;

  constructor(sessionId: string, durable: string[]) {
    this.sessionId = sessionId;
    this.location = `memory:${sessionId}`;
    this.#durable = durable;
  }

  append(events: readonly SessionEvent[]): void {
    for (const event of events) this.#pending.push(encodeEvent(event));
  }

  flush(): Promise<void> {
    if (this.#closed) {
      const error = new HarnessError('The session log is closed', { code: 'store-failed' });
      return Promise.reject(error);
    }
    this.#durable.push(...this.#pending.splice(0));
    return Promise.resolve();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    await this.flush();
    this.#closed = true;
  }
}
