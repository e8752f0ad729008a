import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CodeRuntimeError, messageOf } from '@carrel/code-runtime';
import type { EngineChoice } from './engines/load-engine.ts';
import {
  encodeFrame,
  FRAME_HEADER_BYTES,
  FrameKind,
  type FrameKindNumber,
  ProtocolError,
  readReady,
  type ReadyMessage,
} from './protocol.ts';

const WORKER_ENTRY = fileURLToPath(new URL('./worker.js', import.meta.url));
/** Bytes of the engine's dying words that are kept. */
const MAX_STDERR = 8_192;

/** What the owner of a run is told. After `onGone` nothing more comes. */
export interface WorkerListener {
  /** @throws ProtocolError when the frame is not to be believed; the worker is then killed */
  onFrame(kind: number, body: string): void;
  onGone(cause: WorkerDeath): void;
}

/** How a worker came to its end. */
export interface WorkerDeath {
  /** Memory ran out, in the words of the engine or of the watchdog. */
  readonly outOfMemory: boolean;
}

/** One worker process, and the channel to it. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #channel: Socket;
  readonly #directory: string;
  readonly #maxFrameBytes: number;
  readonly #exited: Promise<unknown>;
  #chunks: Buffer[] = [];
  #buffered = 0;
  #stderr = '';
  #listener: WorkerListener | undefined;
  #ready = Promise.withResolvers<ReadyMessage>();
  #problem: string | undefined;
  #gone: WorkerDeath | undefined;

  /**
   * Starts the process.
   *
   * @param memoryBytes - what its waiting guest is made for
   * @param maxFrameBytes - bytes of one frame that it may send
   */
  constructor(choice: EngineChoice, memoryBytes: number, maxFrameBytes: number) {
    this.#maxFrameBytes = maxFrameBytes;
    this.#directory = mkdtempSync(join(tmpdir(), 'carrel-worker-'));
    this.#child = spawn(
      process.execPath,
      // Without this flag isolated-vm cannot make isolates on Node 20 and later.
      ['--no-node-snapshot', WORKER_ENTRY, choice, String(memoryBytes)],
      {
        cwd: this.#directory,
        // The time zone is one of a program's inputs; nothing else of the environment is.
        env: { TZ: 'UTC' },
        stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      },
    );
    // Asked for as a pipe, so it is one: a duplex socket at descriptor 3.
    this.#channel = this.#child.stdio[3] as Socket;
    this.#channel.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#channel.on('error', (error) => this.kill(error.message));
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-MAX_STDERR);
    });
    this.#child.on('error', (error) => {
      this.#problem ??= error.message;
    });
    // `close` comes after the last byte of every pipe, so no frame is lost to a fast death.
    this.#exited = once(this.#child, 'close').then(
      () => this.#bury(),
      () => this.#bury(), // `once` rejects on `error`: the process never started.
    );
  }

  /** Whether it can be given a program: it was not killed, and has not died. */
  get usable(): boolean {
    return this.#problem === undefined && this.#gone === undefined;
  }

  /** Directs everything that comes from now on to `listener`, or to nobody. */
  listen(listener: WorkerListener | undefined): void {
    this.#listener = listener;
    if (this.#gone !== undefined) listener?.onGone(this.#gone);
  }

  /**
   * Resolves once a guest waits for a program.
   *
   * @throws CodeRuntimeError `worker-unavailable` when the process ends before that
   */
  becomesReady(): Promise<ReadyMessage> {
    return this.#ready.promise;
  }

  /** Sends one frame; to a process that is gone it goes nowhere. */
  send(kind: FrameKindNumber, body: string): void {
    if (kind === FrameKind.run) this.#expectReady();
    if (this.#channel.writable) this.#channel.write(encodeFrame(kind, body));
  }

  /** Whether this worker keeps the host's process alive. */
  keepAlive(yes: boolean): void {
    const streams = [this.#channel, this.#child.stderr as Socket | null];
    for (const handle of [this.#child, ...streams]) {
      if (yes) handle?.ref();
      else handle?.unref();
    }
  }

  /** Ends the process at once. What it was doing is lost. */
  kill(reason: string): void {
    this.#problem ??= reason;
    this.#child.kill('SIGKILL');
  }

  /** Resolves when the process has ended and its directory is removed. */
  async exited(): Promise<void> {
    await this.#exited;
  }

  #becomeReady(message: ReadyMessage): void {
    // The process stays in a directory that is no more: nothing can be put there.
    this.#removeDirectory();
    this.#ready.resolve(message);
  }

  #removeDirectory(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** The guest that is ready now is about to be used up. */
  #expectReady(): void {
    this.#ready = Promise.withResolvers();
    // A worker that dies is reported to its listener; nobody needs to wait here as well.
    this.#ready.promise.catch(() => {});
  }

  #bury(): void {
    this.#removeDirectory();
    this.#gone = { outOfMemory: /is_heap_oom = 1|out of memory/i.test(this.#stderr) };
    this.#ready.reject(
      new CodeRuntimeError(`A worker ended before it was ready: ${this.#problem ?? 'it died'}`, {
        code: 'worker-unavailable',
        retryable: true,
        // For whoever runs the host: it may hold paths, so it never goes into a result.
        details: { stderr: this.#stderr },
      }),
    );
    this.#listener?.onGone(this.#gone);
  }

  #receive(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    try {
      while (this.#buffered >= FRAME_HEADER_BYTES) {
        const header = this.#peek(FRAME_HEADER_BYTES);
        const bytes = header.readUInt32LE(0);
        if (bytes > this.#maxFrameBytes) throw new ProtocolError('a frame is too large');
        if (this.#buffered < FRAME_HEADER_BYTES + bytes) return;
        const frame = this.#take(FRAME_HEADER_BYTES + bytes);
        const kind = frame.readUInt8(4);
        const body = frame.toString('utf8', FRAME_HEADER_BYTES);
        if (kind === FrameKind.ready) this.#becomeReady(readReady(body));
        else this.#listener?.onFrame(kind, body);
      }
    } catch (error) {
      // Whatever went wrong with what a worker sent, it is this worker that pays for it.
      this.#chunks = [];
      this.#buffered = 0;
      this.kill(`it broke the protocol: ${messageOf(error)}`);
    }
  }

  #peek(bytes: number): Buffer {
    const first = this.#chunks[0];
    if (first !== undefined && first.length >= bytes) return first;
    this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0] as Buffer;
  }

  #take(bytes: number): Buffer {
    const whole = this.#peek(bytes);
    const rest = whole.subarray(bytes);
    this.#chunks.shift();
    if (rest.length > 0) this.#chunks.unshift(rest);
    this.#buffered -= bytes;
    return whole.subarray(0, bytes);
  }
}
