/**
 * Lets promises that know nothing of a signal lose against it. Whoever makes one disposes of it.
 */
export class AbortRace {
  readonly #signal: AbortSignal;
  readonly #aborted = Promise.withResolvers<never>();
  readonly #onAbort = (): void => this.#aborted.reject(new Error('aborted'));

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    // Nobody may be racing at the moment of the abort.
    this.#aborted.promise.catch(() => {});
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Settles as `promise` does, or rejects as soon as the signal is aborted. */
  async run<Value>(promise: PromiseLike<Value>): Promise<Value> {
    return await Promise.race([promise, this.#aborted.promise]);
  }

  /** Takes the listener off the signal. */
  dispose(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
}
