import { CodeRuntimeError, messageOf } from '@carrel/code-runtime';
import type { EngineChoice } from './engines/load-engine.ts';
import { WorkerProcess } from './worker-process.ts';
import type { ReadyMessage } from './protocol.ts';

/** Milliseconds that a worker may take from the end of one run to its next guest. */
const RENEWAL_TIMEOUT_MS = 5_000;

/** How a pool is made. */
export interface WorkerPoolOptions {
  readonly choice: EngineChoice;
  /** Workers at most. */
  readonly size: number;
  /** Runs that may wait for a worker. */
  readonly maxQueue: number;
  /** Bytes that a waiting guest is made for. */
  readonly memoryBytes: number;
  /** Bytes of one frame that a worker may send. */
  readonly maxFrameBytes: number;
  /** Runs after which a worker is replaced. */
  readonly maxRuns: number;
}

/** Keeps workers ready, one run at a time on each. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #idle: WorkerProcess[] = [];
  readonly #all = new Set<WorkerProcess>();
  readonly #runs = new WeakMap<WorkerProcess, number>();
  /** Runs that wait for a worker, the first come first. */
  readonly #queue = new Set<PromiseWithResolvers<WorkerProcess>>();
  #starting = 0;
  #disposed = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
  }

  /**
   * Starts the first worker.
   *
   * @throws CodeRuntimeError `engine-unavailable`
   */
  async open(): Promise<ReadyMessage> {
    try {
      const { worker, ready } = await this.#start();
      this.#offer(worker);
      return ready;
    } catch (cause) {
      throw new CodeRuntimeError(`The engine cannot be started: ${messageOf(cause)}`, {
        code: 'engine-unavailable',
        details: CodeRuntimeError.isInstance(cause) ? cause.details : {},
        cause,
      });
    }
  }

  /**
   * A worker with a guest ready; to be handed back with {@link WorkerPool.release}, or unused with
   * {@link WorkerPool.giveBack}.
   *
   * @throws CodeRuntimeError `queue-full`, `runtime-disposed`, or `worker-unavailable`; and
   *   `signal`'s reason when it is aborted first
   */
  async acquire(signal: AbortSignal): Promise<WorkerProcess> {
    if (this.#disposed) throw disposedError();
    signal.throwIfAborted();
    const worker = this.#idle.pop();
    if (worker !== undefined) {
      worker.keepAlive(true);
      return worker;
    }
    if (this.#queue.size >= this.#options.maxQueue) {
      throw new CodeRuntimeError(
        `All ${this.#options.size} workers are busy and ${this.#queue.size} runs are waiting`,
        { code: 'queue-full', retryable: true },
      );
    }
    const waiting = Promise.withResolvers<WorkerProcess>();
    const onAbort = (): void => waiting.reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    this.#queue.add(waiting);
    this.#replenish();
    try {
      return await waiting.promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#queue.delete(waiting);
    }
  }

  /** Takes back a worker that was not used. */
  giveBack(worker: WorkerProcess): void {
    this.#offer(worker);
  }

  /** Takes a worker back after a run: it is offered again once its next guest is ready. */
  async release(worker: WorkerProcess): Promise<void> {
    const runs = (this.#runs.get(worker) ?? 0) + 1;
    this.#runs.set(worker, runs);
    if (runs >= this.#options.maxRuns) worker.kill('it has done its runs');
    const timeout = setTimeout(
      () => worker.kill('its next guest took too long'),
      RENEWAL_TIMEOUT_MS,
    );
    try {
      await worker.becomesReady();
      this.#offer(worker);
    } catch {
      // It died instead, and another is started when it is forgotten.
    } finally {
      clearTimeout(timeout);
    }
  }

  /** Kills every worker and waits until the processes are gone. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    for (const { reject } of this.#queue) reject(disposedError());
    const workers = [...this.#all];
    for (const worker of workers) {
      worker.keepAlive(true);
      worker.kill('the runtime was disposed');
    }
    await Promise.all(workers.map((worker) => worker.exited()));
  }

  async #start(): Promise<{ readonly worker: WorkerProcess; readonly ready: ReadyMessage }> {
    const { choice, memoryBytes, maxFrameBytes } = this.#options;
    this.#starting += 1;
    try {
      const worker = new WorkerProcess(choice, memoryBytes, maxFrameBytes);
      this.#all.add(worker);
      const ready = worker.becomesReady();
      void worker.exited().then(() => this.#forget(worker, ready));
      return { worker, ready: await ready };
    } catch (cause) {
      if (CodeRuntimeError.isInstance(cause)) throw cause;
      throw new CodeRuntimeError('A worker could not be started', {
        code: 'worker-unavailable',
        retryable: true,
        cause,
      });
    } finally {
      this.#starting -= 1;
    }
  }

  /** The process is gone. Only one that had been of use is replaced before anybody asks. */
  #forget(worker: WorkerProcess, firstReady: Promise<unknown>): void {
    this.#all.delete(worker);
    const index = this.#idle.indexOf(worker);
    if (index >= 0) this.#idle.splice(index, 1);
    firstReady.then(
      () => this.#replenish(),
      () => {}, // Whoever started it has been told.
    );
  }

  #offer(worker: WorkerProcess): void {
    // One that was killed is replaced when its process is gone.
    if (!worker.usable) return;
    if (this.#disposed) {
      worker.kill('the runtime was disposed');
      return;
    }
    const [next] = this.#queue;
    worker.keepAlive(next !== undefined);
    if (next === undefined) this.#idle.push(worker);
    else {
      this.#queue.delete(next);
      next.resolve(worker);
    }
  }

  /** Starts workers while runs wait for them, or none is left warm. */
  #replenish(): void {
    if (this.#disposed) return;
    const wanted = Math.max(1, this.#queue.size);
    const room = this.#options.size - this.#all.size;
    const missing = Math.min(wanted - this.#starting - this.#idle.length, room);
    for (let count = 0; count < missing; count += 1) {
      this.#start().then(
        ({ worker }) => this.#offer(worker),
        (error: unknown) => this.#refuse(error),
      );
    }
  }

  /** A worker that did not start costs one run; the others may have more luck. */
  #refuse(error: unknown): void {
    const [next] = this.#queue;
    if (next === undefined) return;
    this.#queue.delete(next);
    next.reject(error);
    if (this.#queue.size > 0) this.#replenish();
  }
}

function disposedError(): CodeRuntimeError {
  return new CodeRuntimeError('The runtime is disposed', { code: 'runtime-disposed' });
}
