import type { CodeLogEntry } from '@carrel/code-runtime';

/**
 * The one account of what a run puts out, in bytes of UTF-8: each log text and one for its line,
 * and the value's JSON.
 */
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
    if (!this.#fits(Buffer.byteLength(entry.text) + 1)) return false;
    this.#logs.push(entry);
    return true;
  }

  /** Counts a returned value; `false` when it no longer fits. */
  value(bytes: number): boolean {
    return this.#fits(bytes);
  }

  #fits(more: number): boolean {
    const bytes = this.#bytes + more;
    if (bytes > this.#maxBytes) return false;
    this.#bytes = bytes;
    return true;
  }
}
