import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Cells of the memory that a worker shares with its watchdog. */
export const WatchdogCell = { memoryBytes: 0, length: 1 } as const;

/** What the watchdog is started with. */
export interface WatchdogData {
  readonly cells: BigInt64Array;
  readonly parentPid: number;
}

/** Ends this process when its host is gone or its guest takes too much memory. */
export interface Watchdog {
  /** Bytes that the guest may use from now on, or no limit. */
  limitMemory(bytes: number | undefined): void;
}

/**
 * Starts the watchdog: a thread of its own, since a guest that loops leaves this one no time.
 */
export async function startWatchdog(): Promise<Watchdog> {
  const cells = new BigInt64Array(
    new SharedArrayBuffer(WatchdogCell.length * BigInt64Array.BYTES_PER_ELEMENT),
  );
  const workerData: WatchdogData = { cells, parentPid: process.ppid };
  const thread = new Worker(new URL('./watchdog-thread.js', import.meta.url), { workerData });
  await once(thread, 'online');
  thread.unref();
  return {
    limitMemory(bytes) {
      Atomics.store(cells, WatchdogCell.memoryBytes, BigInt(bytes ?? 0));
    },
  };
}
