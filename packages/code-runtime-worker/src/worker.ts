// A worker process: one guest at a time, one thread, no event loop while a program is in it. It
// reads its channel blocking and writes it blocking, so that a log entry has left before the
// guest goes on, and the guest is quiet whenever the host is asked for more.

import { readSync, writeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { Engine, Guest, SliceEnd } from './engines/engine.ts';
import { loadEngine, type EngineChoice } from './engines/load-engine.ts';
import {
  encodeFrame,
  FRAME_HEADER_BYTES,
  FrameKind,
  type FrameKindNumber,
  type RunMessage,
} from './protocol.ts';
import { startWatchdog, type Watchdog } from './watchdog.ts';

const CHANNEL = 3;

function write(kind: FrameKindNumber, body: string): void {
  const frame = encodeFrame(kind, body);
  try {
    for (let written = 0; written < frame.length;) written += writeSync(CHANNEL, frame, written);
  } catch {
    // The host is gone, and a guest that waits for this call must not be told of it.
    process.kill(process.pid, 'SIGKILL');
  }
}

function readExactly(bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(bytes);
  for (let read = 0; read < bytes;) {
    const count = readSync(CHANNEL, buffer, read, bytes - read, null);
    // The host is gone: nothing here is worth an orderly end.
    if (count === 0) process.kill(process.pid, 'SIGKILL');
    read += count;
  }
  return buffer;
}

function readFrame(): { readonly kind: number; readonly body: string } {
  const header = readExactly(FRAME_HEADER_BYTES);
  return { kind: header.readUInt8(4), body: readExactly(header.readUInt32LE(0)).toString('utf8') };
}

function notice(kind: 'log' | 'limit', text: string): void {
  write(kind === 'log' ? FrameKind.log : FrameKind.callLimit, text);
}

/** Runs the one program that the next frame brings. */
async function serve(
  engine: Engine,
  spare: Guest,
  spareBytes: number,
  watchdog: Watchdog,
): Promise<void> {
  const { body } = readFrame();
  const { cpuMs, memoryBytes, options } = JSON.parse(body) as RunMessage;
  let guest = spare;
  if (memoryBytes !== spareBytes) {
    spare.dispose();
    guest = await engine.createGuest({ memoryBytes, notice });
  }
  watchdog.limitMemory(memoryBytes);
  let end = guest.start(JSON.stringify(options), cpuMs);
  for (;;) {
    if (!answer(guest, end)) break;
    const frame = readFrame();
    if (frame.kind === FrameKind.drop) break;
    end = guest.settle(frame.body, cpuMs - guest.cpuMs());
  }
  watchdog.limitMemory(undefined);
  guest.dispose();
}

/** Tells the host how a slice ended; answers whether there will be another. */
function answer(guest: Guest, end: SliceEnd): boolean {
  const cpuMs = Math.max(0, guest.cpuMs());
  if ('ended' in end) {
    write(FrameKind.ended, JSON.stringify({ cpuMs, ...end.ended }));
    // After an ending of the engine's own, nothing in this process is trusted any more.
    process.kill(process.pid, 'SIGKILL');
    return false;
  }
  write(FrameKind.report, `{"cpuMs":${cpuMs},"report":${end.reportText}}`);
  return !end.finished;
}

async function main(choice: EngineChoice, memoryBytes: number): Promise<void> {
  const [{ engine, fallbackReason }, watchdog] = await Promise.all([
    loadEngine(choice),
    startWatchdog(),
  ]);
  const ready = JSON.stringify({ engine: engine.name, fallbackReason });
  for (;;) {
    const spare = await engine.createGuest({ memoryBytes, notice });
    write(FrameKind.ready, ready);
    await serve(engine, spare, memoryBytes, watchdog);
    // Lets the process do what only its event loop does: freeing, above all.
    await setImmediate();
  }
}

await main(process.argv[2] as EngineChoice, Number(process.argv[3]));
