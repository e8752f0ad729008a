import type { FileHandle } from 'node:fs/promises';
import { messageOf } from '@carrel/code-runtime';
import { HarnessError } from '../errors.ts';
import type { EventLog } from './event-store.ts';
import { encodeEvent } from './event-text.ts';
import { FIRST_PREVIOUS_HASH, jsonlLine, lineHash } from './jsonl-line.ts';
import type { SessionEvent } from './session-events.ts';

/** What a log does to its file. */
export type LogFile = Pick<FileHandle, 'appendFile' | 'datasync' | 'close'>;

/** An open session file. Owns the file: `close` closes it. */
export class JsonlEventLog implements EventLog {
  readonly sessionId: string;
  readonly location: string;
  readonly #file: LogFile;
  #previousHash = FIRST_PREVIOUS_HASH;
  /** Lines that were not handed to the file yet. */
  #pending: string[] = [];
  /** Whether something was written since the last sync. */
  #unsynced = false;
  /** Ends when the last write or sync asked for so far has ended. Never rejects. */
  #work: Promise<void> = Promise.resolve();
  /**
   * The first failure; it stays. After it nothing is written any more: a line after a gap would
   * break the chain, and what a failed sync left behind is unknown.
   */
  #failure: HarnessError | undefined;
  #closing: Promise<void> | undefined;

  constructor(sessionId: string, location: string, file: LogFile) {
    this.sessionId = sessionId;
    this.location = location;
    this.#file = file;
  }

  append(events: readonly SessionEvent[]): void {
    for (const event of events) {
      const text = encodeEvent(event);
      this.#previousHash = lineHash(this.#previousHash, text);
      this.#pending.push(jsonlLine(this.#previousHash, text));
    }
    void this.#then(() => this.#write());
  }

  async flush(): Promise<void> {
    await this.#then(async () => {
      await this.#write();
      if (!this.#unsynced) return;
      await this.#file.datasync();
      this.#unsynced = false;
    });
    if (this.#failure) throw this.#failure;
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    try {
      await this.flush();
    } finally {
      this.#failure ??= new HarnessError(`The session log ${this.location} is closed`, {
        code: 'store-failed',
      });
      await this.#file.close();
    }
  }

  /** Runs `step` after all work before it, unless that failed. Never rejects. */
  #then(step: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(async () => {
      if (this.#failure) return;
      try {
        await step();
      } catch (cause) {
        const message = `The session log ${this.location} could not be written: ${messageOf(cause)}`;
        const details = { location: this.location };
        this.#failure = new HarnessError(message, { code: 'store-failed', details, cause });
      }
    });
    return this.#work;
  }

  /** One write for all that is waiting. */
  async #write(): Promise<void> {
    const lines = this.#pending;
    if (lines.length === 0) return;
    this.#pending = [];
    this.#unsynced = true;
    await this.#file.appendFile(lines.join(''));
  }
}
