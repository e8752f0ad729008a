import PQueue from 'p-queue';

/** How many calls may overlap, where their tools allow it. */
const DEFAULT_MAX_PARALLEL = 10;

/** What {@link DispatchQueue} takes. */
export interface DispatchQueueOptions {
  /** How many calls of parallel-safe tools may run at the same time. Default 10. */
  readonly maxParallel?: number;
}

/** How one call wants to be queued. */
export interface DispatchOptions {
  /** Whether it may overlap other such calls. */
  readonly parallelSafe: boolean;
  /** Takes the call out of the queue; once it has started, the queue leaves stopping it to the task. */
  readonly signal?: AbortSignal;
}

/** The call was taken out of the queue before its turn came: nothing of it happened. */
export class CallNotStartedError extends Error {
  override readonly name = 'CallNotStartedError';
}

/**
 * The one place that orders calls, for a program and for a batch of native calls. Calls start in
 * the order in which they are added. A call that is not parallel-safe is a barrier: it waits for
 * all before it, and all after it wait for it.
 */
export class DispatchQueue {
  /** Admission, one call at a time. An exclusive call stays in here until it has settled. */
  readonly #admission = new PQueue({ concurrency: 1 });
  /** The parallel-safe calls since the last exclusive one. */
  readonly #overlapping: PQueue;
  /** Takes each call that has not started out of the queue. */
  readonly #waiting = new Set<() => void>();
  #abandoned = false;

  /** @throws TypeError for a `maxParallel` that is not a whole number from 1 up */
  constructor({ maxParallel = DEFAULT_MAX_PARALLEL }: DispatchQueueOptions = {}) {
    if (!Number.isInteger(maxParallel) || maxParallel < 1) {
      throw new TypeError(
        `Expected \`maxParallel\` to be a whole number from 1 up, got ${String(maxParallel)} (${typeof maxParallel})`,
      );
    }
    this.#overlapping = new PQueue({ concurrency: maxParallel });
  }

  /**
   * Queues a call.
   *
   * @param task - starts the call; called at most once, when the call's turn has come
   * @returns what the task settles with; rejects with a {@link CallNotStartedError} when the queue
   * was abandoned or `signal` fired before its turn
   */
  add<Value>(task: () => Promise<Value>, options: DispatchOptions): Promise<Value> {
    const { parallelSafe, signal } = options;
    const call = Promise.withResolvers<Value>();
    if (this.#abandoned || signal?.aborted) {
      call.reject(new CallNotStartedError('the call was not started'));
      return call.promise;
    }
    const leave = (): void => {
      signal?.removeEventListener('abort', leave);
      if (this.#waiting.delete(leave)) {
        call.reject(new CallNotStartedError('the call was not started'));
      }
    };
    this.#waiting.add(leave);
    signal?.addEventListener('abort', leave, { once: true });
    // Never rejects, because `call` takes every settlement.
    const start = async (): Promise<void> => {
      if (!this.#waiting.delete(leave)) return;
      signal?.removeEventListener('abort', leave);
      try {
        call.resolve(await task());
      } catch (error) {
        call.reject(error);
      }
    };
    void this.#admission.add(async () => {
      if (parallelSafe) {
        // Admitted, not awaited: the next call may come beside it.
        void this.#overlapping.add(start);
      } else {
        await this.#overlapping.onIdle();
        await start();
      }
    });
    return call.promise;
  }

  /** Lets no further call start: neither a waiting one nor one that is added later. Idempotent. */
  abandon(): void {
    this.#abandoned = true;
    for (const leave of this.#waiting) leave();
  }

  /** Resolves when no call waits or runs. */
  async drained(): Promise<void> {
    await this.#admission.onIdle();
    await this.#overlapping.onIdle();
    // Calls may have been added while the last ones ran.
    if (this.#admission.size + this.#admission.pending + this.#overlapping.pending > 0) {
      await this.drained();
    }
  }
}
