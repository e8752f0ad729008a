import type { CodeLogEntry } from '@carrel/code-runtime';

/** The one account of what a run puts out: bytes of log texts and of the value's JSON, as UTF-8. */
export class OutputLedger {
  readonly #maxBytes: number;
  readonly #logs: CodeLogEntry[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get logs(): readonly CodeLogEntry[] {
    return this.#logs;
  }

  /** Keeps an entry; `false` when it no longer fits. */
  log(entry: CodeLogEntry): boolean {
    if (!this.#fits(entry.text)) return false;
    this.#logs.push(entry);
    return true;
  }

  /** Counts a returned value; `false` when it no longer fits. */
  value(text: string): boolean {
    return this.#fits(text);
  }

  #fits(text: string): boolean {
    const bytes = this.#bytes + Buffer.byteLength(text);
    if (bytes > this.#maxBytes) return false;
    this.#bytes = bytes;
    return true;
  }
}
