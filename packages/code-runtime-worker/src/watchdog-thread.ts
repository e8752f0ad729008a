import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { encodeFrame, FrameKind } from './protocol.ts';
import { WatchdogCell, type WatchdogData } from './watchdog.ts';

/** How often is looked, in milliseconds. A guest can take about 5 MB in that time. */
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
    const message = 'The program used too much memory';
    // The thread that owns the channel is inside the guest, so no frame of its own is under way.
    writeSync(
      3,
      encodeFrame(FrameKind.ended, JSON.stringify({ cpuMs: 0, kind: 'memory-limit', message })),
    );
    process.kill(process.pid, 'SIGKILL');
  }
}

setInterval(look, INTERVAL_MS);
