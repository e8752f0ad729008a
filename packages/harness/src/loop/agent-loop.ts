import { randomUUID } from 'node:crypto';
import type { Agent } from '../agent-contract.ts';
import { HarnessError } from '../errors.ts';
import type { SessionEvent, TurnEndReason } from '../session/session-events.ts';
import { cancelReason } from './cancelled.ts';
import { Inbox } from './inbox.ts';
import type { LoopParts } from './loop-parts.ts';
import { runTurn } from './run-turn.ts';

/** The agent of one session: one turn at a time, until the inbox is empty. */
export class AgentLoop implements Agent {
  readonly sessionId: string;
  readonly logLocation: string;
  readonly #parts: LoopParts;
  readonly #inbox = new Inbox();
  /** Turns that were started. */
  #turns = 0;
  /** Cancels the turn that runs; absent when idle. */
  #turn: AbortController | undefined;
  /** Ends when the inbox is empty; absent when idle. Never rejects. */
  #work: Promise<void> | undefined;
  #disposal: Promise<void> | undefined;

  constructor(sessionId: string, logLocation: string, parts: LoopParts) {
    this.sessionId = sessionId;
    this.logLocation = logLocation;
    this.#parts = parts;
  }

  get events(): readonly SessionEvent[] {
    return this.#parts.log.events;
  }

  async send(
    text: string,
    { messageId = randomUUID() }: { readonly messageId?: string } = {},
  ): Promise<TurnEndReason> {
    if (typeof text !== 'string' || text.trim() === '') {
      throw new TypeError(`Expected \`text\` to be a text that says something, got ${typeof text}`);
    }
    if (typeof messageId !== 'string' || messageId === '') {
      throw new TypeError(`Expected \`messageId\` to be a text, got ${typeof messageId}`);
    }
    if (this.#disposal) {
      throw new HarnessError('The agent is disposed', { code: 'agent-disposed' });
    }
    const end = this.#inbox.add(messageId, text);
    this.#work ??= this.#workThroughInbox();
    return end;
  }

  cancel(cause = 'cancelled'): void {
    // The first cause stands: aborting again does nothing.
    this.#turn?.abort(cancelReason(cause));
  }

  async whenIdle(): Promise<void> {
    while (this.#work) await this.#work;
  }

  dispose(): Promise<void> {
    return (this.#disposal ??= this.#dispose());
  }

  async #dispose(): Promise<void> {
    this.#inbox.reject('the agent was disposed before it took this message up');
    this.cancel('disposed');
    await this.whenIdle();
    await this.#parts.log.close();
  }

  async #workThroughInbox(): Promise<void> {
    for (let message = this.#inbox.take(); message; message = this.#inbox.take()) {
      this.#turns += 1;
      // From here on the turn can be cancelled, also before anything of it is in the log.
      const turn = (this.#turn = new AbortController());
      // Nothing is told to a listener before `send` holds the promise of this work.
      await Promise.resolve();
      const reason = await runTurn(this.#parts, this.#turns, message, turn.signal);
      this.#turn = undefined;
      message.settle(reason);
    }
    this.#work = undefined;
  }
}
