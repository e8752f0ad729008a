import { JsonConversionError } from '@carrel/code-runtime/json';
import { codeOf, HarnessError, warnOf } from '../errors.ts';
import { decodeEvent, encodeEvent } from './event-text.ts';
import type { EventLog } from './event-store.ts';
import type { SessionEvent, SessionEventMap, SessionEventType } from './session-events.ts';

/** Who hears of each event, after it is part of the log. */
export interface SessionLogObservers {
  /** Gets the text that is stored. */
  readonly onText?: (text: string) => void;
  /** Contained: what it throws becomes a process warning, and the event stands. */
  readonly onEvent?: ((event: SessionEvent) => void) | undefined;
}

/** The facts of one session in order: appended in memory at once, durable at the next barrier. */
export class SessionLog {
  readonly #store: EventLog;
  readonly #observers: SessionLogObservers;
  /** The event at index `n` has `seq` `n`. Each is decoded from its stored text, and deeply frozen. */
  readonly #events: SessionEvent[] = [];
  #snapshot: readonly SessionEvent[] | undefined;
  /** What the store threw at an append. It stays, and the store gets nothing more: no gap. */
  #failure: HarnessError | undefined;

  constructor(store: EventLog, observers: SessionLogObservers = {}) {
    this.#store = store;
    this.#observers = observers;
  }

  /** Everything appended so far; a frozen list that does not grow. */
  get events(): readonly SessionEvent[] {
    return (this.#snapshot ??= Object.freeze([...this.#events]));
  }

  /**
   * Adds a fact. What the log keeps is a snapshot: the caller may change `data` afterwards.
   *
   * @returns the event as it stands in the log
   * @throws HarnessError `event-not-json`; the log is as it was
   */
  append<Type extends SessionEventType>(type: Type, data: SessionEventMap[Type]): SessionEvent {
    const seq = this.#events.length;
    const text = textOf({ seq, type, time: Date.now(), data } as unknown as SessionEvent);
    const event = decodeEvent(text);
    this.#events.push(event);
    this.#snapshot = undefined;
    this.#handToStore(event);
    this.#observers.onText?.(text);
    try {
      this.#observers.onEvent?.(event);
    } catch (error) {
      warnOf(error);
    }
    return event;
  }

  /**
   * A durability barrier: resolves once everything appended before it is durable.
   *
   * @throws HarnessError `store-failed`, also when the store throws something else
   */
  async flush(): Promise<void> {
    if (this.#failure) throw this.#failure;
    try {
      await this.#store.flush();
    } catch (cause) {
      throw storeFailed(cause);
    }
  }

  /** Flushes and gives up the right to append. @throws HarnessError `store-failed` */
  async close(): Promise<void> {
    try {
      await this.#store.close();
    } catch (cause) {
      throw this.#failure ?? storeFailed(cause);
    }
    if (this.#failure) throw this.#failure;
  }

  /** Contains a store that breaks its contract: the event stands here, and the next barrier fails. */
  #handToStore(event: SessionEvent): void {
    if (this.#failure) return;
    try {
      this.#store.append([event]);
    } catch (cause) {
      this.#failure = storeFailed(cause);
    }
  }
}

function textOf(event: SessionEvent): string {
  try {
    return encodeEvent(event);
  } catch (cause) {
    if (!(cause instanceof JsonConversionError)) throw cause;
    const { path, message } = cause;
    throw new HarnessError(`A ${event.type} event cannot be logged: ${message}`, {
      code: 'event-not-json',
      details: { type: event.type, path },
      cause,
    });
  }
}

function storeFailed(cause: unknown): HarnessError {
  if (codeOf(cause) === 'store-failed') return cause as HarnessError;
  const message = 'The session log could not be made durable';
  return new HarnessError(message, { code: 'store-failed', cause });
}
