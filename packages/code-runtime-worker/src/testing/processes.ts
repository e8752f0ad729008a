import { execFileSync } from 'node:child_process';

/** The ids of the processes that `parentPid` has started and that still run. */
export function childrenOf(parentPid: number): readonly number[] {
  return execFileSync('ps', ['-A', '-o', 'pid=,ppid=,comm='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, parent, command]) => Number(parent) === parentPid && command !== 'ps')
    .map(([pid]) => Number(pid));
}

/** Whether a process of that id runs. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // There is no such process.
  }
}
