import type { TurnEndReason } from '../session/session-events.ts';

/** A message from the user that waits for its turn. */
export interface QueuedMessage {
  readonly messageId: string;
  readonly text: string;
  /** Tells everybody who sent it how its turn ended. */
  settle(reason: TurnEndReason): void;
}

interface Known {
  readonly text: string;
  readonly end: Promise<TurnEndReason>;
}

/** Messages from the user in the order in which they came, each of them once. */
export class Inbox {
  readonly #queue: QueuedMessage[] = [];
  /** Every message that ever came, by its id: a repeated send is the same message. */
  readonly #known = new Map<string, Known>();

  /**
   * Queues a message, unless one of that id came before.
   *
   * @returns how its turn ends
   * @throws TypeError when a message of that id had another text
   */
  add(messageId: string, text: string): Promise<TurnEndReason> {
    const known = this.#known.get(messageId);
    if (known !== undefined) {
      if (known.text === text) return known.end;
      throw new TypeError(
        `Expected \`messageId\` to be of one message, got ${JSON.stringify(messageId)} with another text`,
      );
    }
    const { promise, resolve } = Promise.withResolvers<TurnEndReason>();
    this.#known.set(messageId, { text, end: promise });
    this.#queue.push({ messageId, text, settle: resolve });
    return promise;
  }

  /** Takes the oldest message out; `undefined` when there is none. */
  take(): QueuedMessage | undefined {
    return this.#queue.shift();
  }

  /** Settles whatever waits, and forgets it: no turn takes it up. */
  reject(reason: string): void {
    for (const message of this.#queue.splice(0)) message.settle({ type: 'rejected', reason });
  }
}
