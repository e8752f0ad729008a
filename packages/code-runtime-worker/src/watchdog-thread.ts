import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { WatchdogCell, type WatchdogData } from './watchdog.ts';

/** How often is looked, in milliseconds. A guest can take some tens of MB in that time. */
const INTERVAL_MS = 10;
/** What the engine itself may take beside the guest's memory, in bytes. */
const SLACK_BYTES = 64 * 1024 * 1024;

const { cells, parentPid } = workerData as WatchdogData;
let baseBytes = 0;
let limitBytes = 0;

function look(): void {
  if (process.ppid !== parentPid) process.kill(process.pid, 'SIGKILL');
  const bytes = Number(Atomics.load(cells, WatchdogCell.memoryBytes));
  if (bytes !== limitBytes) {
    limitBytes = bytes;
    baseBytes = process.memoryUsage.rss();
  }
  if (bytes > 0 && process.memoryUsage.rss() > baseBytes + bytes + SLACK_BYTES) {
    // Not over the channel: the other thread may be in the middle of a frame.
    writeSync(2, 'out of memory');
    process.kill(process.pid, 'SIGKILL');
  }
}

setInterval(look, INTERVAL_MS);
