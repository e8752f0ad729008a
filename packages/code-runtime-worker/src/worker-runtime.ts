import { availableParallelism } from 'node:os';
import {
  assertBindings,
  type CodeRunFailure,
  type CodeRunJournal,
  type CodeRunLimits,
  type CodeRunRequest,
  type CodeRunResult,
  type CodeRuntime,
  CodeRuntimeError,
  resolveLimits,
} from '@carrel/code-runtime';
import type { Engine } from './engines/engine.ts';
import { Preparer } from './preparer.ts';
import { runOnWorker } from './program-run.ts';
import { WorkerPool } from './worker-pool.ts';

const MIB = 1024 * 1024;
/** Room in a frame for what is not output: the calls of one slice. */
const CALLS_FRAME_BYTES = 64 * MIB;
/** A worker's own memory grows slowly with use. */
const MAX_RUNS_PER_WORKER = 200;

/** How a runtime is made. */
export interface WorkerRuntimeOptions {
  /** The engine that must be used; by default isolated-vm where it loads, else quickjs. */
  readonly engine?: Engine['name'];
  /** Budgets of every run that does not bring its own. */
  readonly limits?: Partial<CodeRunLimits>;
  readonly pool?: {
    /** Worker processes at most. Default: the number of cores. */
    readonly size?: number;
    /** Runs that may wait for a worker. Default 1,000. */
    readonly maxQueue?: number;
  };
}

/**
 * Makes a runtime that runs each program in a fresh isolate inside a worker process of its own
 * pool, and starts the first worker.
 *
 * @throws TypeError for a bad option
 * @throws CodeRuntimeError `engine-unavailable` when the named engine, or none, can be started
 */
export async function createWorkerRuntime(
  options: WorkerRuntimeOptions = {},
): Promise<CodeRuntime> {
  const { engine } = options;
  if (engine !== undefined && engine !== 'isolated-vm' && engine !== 'quickjs') {
    throw new TypeError(
      `Expected \`engine\` to be 'isolated-vm' or 'quickjs', got ${String(engine)}`,
    );
  }
  const limits = resolveLimits(options.limits);
  const pool = new WorkerPool({
    choice: engine ?? 'default',
    size: atLeastOne('pool.size', options.pool?.size ?? availableParallelism()),
    maxQueue: atLeastOne('pool.maxQueue', options.pool?.maxQueue ?? 1_000),
    memoryBytes: limits.memoryBytes,
    maxFrameBytes: limits.maxOutputBytes + CALLS_FRAME_BYTES,
    maxRuns: MAX_RUNS_PER_WORKER,
  });
  const preparer = new Preparer();
  try {
    const ready = await pool.open();
    if (ready.fallbackReason !== undefined) {
      process.emitWarning(`isolated-vm does not load, quickjs is used: ${ready.fallbackReason}`, {
        code: 'CARREL_ENGINE_FALLBACK',
      });
    }
    return new WorkerRuntime(ready.engine, limits, pool, preparer);
  } catch (error) {
    await preparer.dispose();
    throw error;
  }
}

function atLeastOne(name: string, value: number): number {
  if (!Number.isInteger(value) || value < 1) {
    throw new TypeError(
      `Expected \`${name}\` to be a whole number from 1 up, got ${String(value)}`,
    );
  }
  return value;
}

class WorkerRuntime implements CodeRuntime {
  readonly language = 'typescript';
  readonly engine: string;
  readonly isolation: string;
  readonly #limits: CodeRunLimits;
  readonly #pool: WorkerPool;
  readonly #preparer: Preparer;
  readonly #disposal = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(engine: string, limits: CodeRunLimits, pool: WorkerPool, preparer: Preparer) {
    this.engine = engine;
    this.isolation = `a fresh ${engine} realm for each program, in a worker process without environment or descriptors`;
    this.#limits = limits;
    this.#pool = pool;
    this.#preparer = preparer;
  }

  async run(request: CodeRunRequest): Promise<CodeRunResult> {
    if (typeof request.program !== 'string') {
      throw new TypeError(`Expected \`program\` to be a string, got ${typeof request.program}`);
    }
    assertBindings(request.bindings);
    const limits = resolveLimits(request.limits, this.#limits);
    if (this.#disposal.signal.aborted) {
      throw new CodeRuntimeError('The runtime is disposed', { code: 'runtime-disposed' });
    }
    if (request.replay !== undefined) assertJournal(request.replay);
    const signal = AbortSignal.any(
      request.signal === undefined
        ? [this.#disposal.signal]
        : [this.#disposal.signal, request.signal],
    );
    const running = this.#run({ ...request, signal }, limits);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  async dispose(): Promise<void> {
    this.#disposal.abort();
    await Promise.allSettled(this.#running);
    await Promise.all([this.#pool.dispose(), this.#preparer.dispose()]);
  }

  async #run(
    request: CodeRunRequest & { signal: AbortSignal },
    limits: CodeRunLimits,
  ): Promise<CodeRunResult> {
    const { program, signal } = request;
    if (signal.aborted) return notRun(request, cancelled());
    const bytes = Buffer.byteLength(program);
    if (bytes > limits.maxSourceBytes) {
      const message = `The program is ${bytes} bytes long; at most ${limits.maxSourceBytes} are taken`;
      return notRun(request, { kind: 'source-limit', message });
    }
    const prepared = await this.#preparer.prepare(program);
    if (signal.aborted) return notRun(request, cancelled());
    if ('failure' in prepared) return notRun(request, prepared.failure);
    let worker;
    try {
      worker = await this.#pool.acquire(signal);
    } catch (error) {
      if (signal.aborted) return notRun(request, cancelled());
      throw error;
    }
    // The signal may have fired while the worker was on its way.
    if (signal.aborted) {
      this.#pool.giveBack(worker);
      return notRun(request, cancelled());
    }
    const result = await runOnWorker(worker, { request, limits, ...prepared });
    void this.#pool.release(worker);
    return result;
  }
}

function assertJournal({ version, calls, batches }: CodeRunJournal): void {
  if (version !== 1 || !Array.isArray(calls) || !Array.isArray(batches)) {
    throw new TypeError(
      `Expected \`replay\` to be a whole journal of version 1, got version ${String(version)}`,
    );
  }
}

function cancelled(): CodeRunFailure {
  return { kind: 'aborted', message: 'The run was cancelled' };
}

/** The result of a program that no engine has seen. */
function notRun(request: CodeRunRequest, failure: CodeRunFailure): CodeRunResult {
  return {
    failure,
    logs: [],
    warnings: [],
    calls: [],
    usage: { cpuMs: 0, wallMs: 0, calls: 0, outputBytes: 0 },
    journal: {
      version: 1,
      program: request.program,
      seed: request.seed ?? '',
      startTimeMs: request.startTimeMs ?? Date.now(),
      calls: [],
      batches: [],
      failure: { kind: failure.kind, message: failure.message },
    },
  };
}
