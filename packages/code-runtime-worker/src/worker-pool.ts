import { CodeRuntimeError } from '@carrel/code-runtime';
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

interface Waiting {
  readonly resolve: (worker: WorkerProcess) => void;
  readonly reject: (error: unknown) => void;
}

/** Keeps workers ready, one run at a time on each. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #idle: WorkerProcess[] = [];
  readonly #all = new Set<WorkerProcess>();
  readonly #runs = new WeakMap<WorkerProcess, number>();
  readonly #queue: Waiting[] = [];
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
    const { worker, ready } = await this.#start();
    this.#offer(worker);
    return ready;
  }

  /**
   * A worker with a guest ready; to be handed back with {@link WorkerPool.release}.
   *
   * @throws CodeRuntimeError `queue-full`, `runtime-disposed`, or `engine-unavailable`; and
   *   `signal`'s reason when it is aborted first
   */
  async acquire(signal?: AbortSignal): Promise<WorkerProcess> {
    this.#assertOpen();
    const worker = this.#idle.pop();
    if (worker !== undefined) {
      worker.keepAlive(true);
      return worker;
    }
    if (this.#queue.length >= this.#options.maxQueue) {
      throw new CodeRuntimeError(
        `All ${this.#options.size} workers are busy and ${this.#queue.length} runs are waiting`,
        { code: 'queue-full', retryable: true },
      );
    }
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        reject(signal?.reason as Error);
      };
      const waiting: Waiting = {
        resolve: (free) => {
          signal?.removeEventListener('abort', onAbort);
          resolve(free);
        },
        reject,
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#queue.push(waiting);
      this.#replenish();
    });
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
      // It died instead: `#watch` has removed it, and another is started.
      this.#replenish();
    } finally {
      clearTimeout(timeout);
    }
  }

  /** Kills every worker and waits until the processes are gone. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    for (const { reject } of this.#queue.splice(0)) reject(disposedError());
    const workers = [...this.#all];
    for (const worker of workers) {
      worker.keepAlive(true);
      worker.kill('the runtime was disposed');
    }
    await Promise.all(workers.map((worker) => worker.exited()));
  }

  #assertOpen(): void {
    if (this.#disposed) throw disposedError();
  }

  async #start(): Promise<{ readonly worker: WorkerProcess; readonly ready: ReadyMessage }> {
    const { choice, memoryBytes, maxFrameBytes } = this.#options;
    const worker = new WorkerProcess(choice, memoryBytes, maxFrameBytes);
    this.#all.add(worker);
    this.#starting += 1;
    void worker.exited().then(() => this.#forget(worker));
    try {
      return { worker, ready: await worker.becomesReady() };
    } finally {
      this.#starting -= 1;
    }
  }

  #forget(worker: WorkerProcess): void {
    this.#all.delete(worker);
    const index = this.#idle.indexOf(worker);
    if (index >= 0) this.#idle.splice(index, 1);
  }

  #offer(worker: WorkerProcess): void {
    if (this.#disposed || worker.gone) {
      worker.kill('the runtime was disposed');
      return;
    }
    const next = this.#queue.shift();
    worker.keepAlive(next !== undefined);
    if (next === undefined) this.#idle.push(worker);
    else next.resolve(worker);
  }

  /** Starts workers while runs wait for them, or none is left warm. */
  #replenish(): void {
    if (this.#disposed) return;
    const wanted = Math.max(1, this.#queue.length);
    const room = this.#options.size - this.#all.size;
    const missing = Math.min(wanted - this.#starting - this.#idle.length, room);
    for (let count = 0; count < missing; count += 1) {
      this.#start().then(
        ({ worker }) => this.#offer(worker),
        (error: unknown) => this.#queue.shift()?.reject(error),
      );
    }
  }
}

function disposedError(): CodeRuntimeError {
  return new CodeRuntimeError('The runtime is disposed', { code: 'runtime-disposed' });
}
