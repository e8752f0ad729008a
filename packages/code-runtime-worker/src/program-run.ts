import { randomUUID } from 'node:crypto';
import {
  type CodeRunFailure,
  type CodeRunJournal,
  type CodeRunJournalBatch,
  type CodeRunLimits,
  type CodeRunRequest,
  type CodeRunResult,
  type CodeRunWarning,
  encodeLossless,
  type JsonValue,
} from '@carrel/code-runtime';
import { HostCalls } from './host-calls.ts';
import { locateFailure } from './locate-failure.ts';
import { OutputLedger } from './output-ledger.ts';
import {
  FrameKind,
  type GuestOutcome,
  ProtocolError,
  readEnded,
  readLog,
  readReport,
  type RunMessage,
} from './protocol.ts';
import type { WorkerDeath, WorkerProcess } from './worker-process.ts';

/** Milliseconds past the CPU budget after which the host stops waiting for the engine's own limit. */
const CPU_GRACE_MS = 500;

/** A program that is ready for an engine. */
export interface ProgramJob {
  readonly request: CodeRunRequest;
  readonly limits: CodeRunLimits;
  readonly javascript: string;
  readonly warnings: readonly CodeRunWarning[];
}

/**
 * Runs one program on one worker.
 *
 * @returns the result; by then the worker is either making its next guest, or killed
 */
export function runOnWorker(worker: WorkerProcess, job: ProgramJob): Promise<CodeRunResult> {
  return new Promise((resolve) => new ProgramRun(worker, job, resolve).begin());
}

/** The host's side of one run. The guest is either computing, or quiet until it is handed a batch. */
class ProgramRun {
  readonly #worker: WorkerProcess;
  readonly #job: ProgramJob;
  readonly #resolve: (result: CodeRunResult) => void;
  readonly #calls: HostCalls;
  readonly #ledger: OutputLedger;
  readonly #warnings: CodeRunWarning[];
  readonly #seed: string;
  readonly #startTimeMs: number;
  readonly #startedMs = performance.now();
  /** Each a `CodeRunJournalBatch` as JSON: parsed only when somebody asks for the journal. */
  readonly #batches: string[] = [];
  readonly #timers = new Map<number, NodeJS.Timeout>();
  /** Each a `CodeRunSettlement` as JSON. */
  #settled: string[] = [];
  #cpuMs = 0;
  #computing = false;
  #ended = false;
  #cpuTimeout: NodeJS.Timeout | undefined;
  #wallTimeout: NodeJS.Timeout | undefined;
  #delivery: NodeJS.Immediate | undefined;

  constructor(worker: WorkerProcess, job: ProgramJob, resolve: (result: CodeRunResult) => void) {
    this.#worker = worker;
    this.#job = job;
    this.#resolve = resolve;
    const { bindings, seed, startTimeMs } = job.request;
    this.#calls = new HostCalls(
      bindings,
      bindings.map(({ functions }) => Object.keys(functions)),
      (event) => job.request.onEvent?.(event),
      (settlementText) => this.#settle(settlementText),
    );
    this.#ledger = new OutputLedger(job.limits.maxOutputBytes);
    this.#warnings = [...job.warnings];
    this.#seed = seed ?? randomUUID();
    this.#startTimeMs = startTimeMs ?? Date.now();
  }

  begin(): void {
    const { request, limits, javascript } = this.#job;
    this.#worker.listen({
      onFrame: (kind, body) => this.#receive(kind, body),
      onGone: (death) => this.#lose(death),
    });
    request.signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.#wallTimeout = setTimeout(() => {
      this.#fail({
        kind: 'wall-limit',
        message: `The program did not end within ${limits.wallMs} ms`,
      });
    }, limits.wallMs);
    const message: RunMessage = {
      cpuMs: limits.cpuMs,
      memoryBytes: limits.memoryBytes,
      options: {
        javascript,
        seed: this.#seed,
        startTimeMs: this.#startTimeMs,
        namespaces: request.bindings.map(({ global, functions, errorClass }) => ({
          global,
          members: Object.keys(functions),
          ...(errorClass === undefined ? {} : { errorClass }),
        })),
        maxCalls: limits.maxCalls,
        maxPendingCalls: limits.maxPendingCalls,
        maxArgumentBytes: limits.maxArgumentBytes,
        maxOutputBytes: limits.maxOutputBytes,
      },
    };
    this.#compute(FrameKind.run, JSON.stringify(message));
  }

  readonly #onAbort = (): void => {
    this.#fail({ kind: 'aborted', message: 'The run was cancelled' });
  };

  /** Lets the guest compute, until it reports. */
  #compute(kind: typeof FrameKind.run | typeof FrameKind.settle, body: string): void {
    this.#computing = true;
    const leftMs = Math.max(0, this.#job.limits.cpuMs - this.#cpuMs);
    this.#cpuTimeout = setTimeout(() => this.#failOnCpu(), leftMs + CPU_GRACE_MS);
    this.#worker.send(kind, body);
  }

  #receive(kind: number, body: string): void {
    if (this.#ended) return;
    if (!this.#computing) throw new ProtocolError('a quiet guest spoke');
    switch (kind) {
      case FrameKind.log: {
        const entry = readLog(body);
        if (this.#ledger.log(entry)) this.#job.request.onEvent?.({ type: 'log', entry });
        else this.#failOnOutput();
        return;
      }
      case FrameKind.callLimit:
        this.#fail({ kind: 'call-limit', message: `The program made ${body}` });
        return;
      case FrameKind.report:
        this.#report(body);
        return;
      case FrameKind.ended: {
        const { cpuMs, kind: failure, message } = readEnded(body);
        this.#cpuMs = Math.max(this.#cpuMs, cpuMs);
        if (failure === 'cpu-limit') this.#failOnCpu();
        else this.#fail({ kind: failure, message });
        return;
      }
      default:
        throw new ProtocolError('a frame of no known kind');
    }
  }

  /** The guest is quiet: starts what it asked for, and hands it what has settled meanwhile. */
  #report(body: string): void {
    const { cpuMs, report } = readReport(body);
    this.#computing = false;
    clearTimeout(this.#cpuTimeout);
    this.#cpuMs = cpuMs;
    const goesOn = report.outcome === undefined;
    for (const call of report.calls) this.#calls.make(call, goesOn);
    if (report.outcome !== undefined) {
      this.#conclude(report.outcome);
      return;
    }
    for (const { id, delayMs } of report.timersBegun) this.#beginTimer(id, delayMs);
    for (const id of report.timersEnded) this.#endTimer(id);
    if (this.#settled.length > 0) this.#deliverSoon();
    else if (this.#calls.pending === 0 && this.#timers.size === 0) {
      this.#fail({
        kind: 'deadlock',
        message: 'The program waits for something that nothing can settle any more',
      });
    }
  }

  #beginTimer(id: number, delayMs: number): void {
    // A longer delay than a timer takes is past every wall limit: such a timer never fires.
    if (delayMs > this.#job.limits.wallMs) {
      this.#timers.set(
        id,
        setTimeout(() => {}, this.#job.limits.wallMs),
      );
      return;
    }
    const timeout = setTimeout(() => {
      this.#timers.delete(id);
      this.#settle(`{"timer":${id}}`);
    }, delayMs);
    this.#timers.set(id, timeout);
  }

  #endTimer(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }

  #settle(settlementText: string): void {
    if (this.#ended) return;
    this.#settled.push(settlementText);
    if (!this.#computing) this.#deliverSoon();
  }

  /** Whatever settles in the same turn of the event loop travels together. */
  #deliverSoon(): void {
    this.#delivery ??= setImmediate(() => {
      this.#delivery = undefined;
      this.#deliver();
    });
  }

  #deliver(): void {
    const atMs = Math.round(performance.now() - this.#startedMs);
    const batch = `{"atMs":${atMs},"settlements":[${this.#settled.join(',')}]}`;
    this.#settled = [];
    this.#batches.push(batch);
    this.#compute(FrameKind.settle, batch);
  }

  #conclude({ value, warnings = [], failure }: GuestOutcome): void {
    for (const { path, message } of warnings) {
      this.#warnings.push({ code: 'value-converted', path, message: `${path}: ${message}` });
    }
    if (failure !== undefined) {
      const { kind, message, name, code, stack, callId } = failure;
      const call = callId === undefined ? undefined : this.#calls.records[callId - 1];
      this.#end({
        failure: {
          kind,
          message,
          ...locateFailure(this.#job.request.program, stack),
          ...(name === undefined ? {} : { name }),
          ...(code === undefined ? {} : { code }),
          ...(call === undefined
            ? {}
            : { call: { id: call.id, global: call.global, name: call.name } }),
        },
      });
    } else if (value === undefined) this.#end({});
    else if (this.#ledger.value(encodeLossless(value))) this.#end({ value });
    else this.#failOnOutput();
  }

  #lose({ outOfMemory, message }: WorkerDeath): void {
    this.#fail(
      outOfMemory
        ? { kind: 'memory-limit', message: 'The program used too much memory' }
        : { kind: 'worker-crash', message: `The worker that ran the program ended: ${message}` },
    );
  }

  #failOnCpu(): void {
    this.#cpuMs = Math.max(this.#cpuMs, this.#job.limits.cpuMs);
    this.#fail({
      kind: 'cpu-limit',
      message: `The program computed for more than ${this.#job.limits.cpuMs} ms`,
    });
  }

  #failOnOutput(): void {
    this.#fail({
      kind: 'output-limit',
      message: `Logs and value together are more than ${this.#job.limits.maxOutputBytes} bytes`,
    });
  }

  /** Ends a program that has not ended by itself; its guest goes with it. */
  #fail(failure: CodeRunFailure): void {
    if (this.#ended) return;
    if (this.#computing) this.#worker.kill(failure.message);
    else this.#worker.send(FrameKind.drop, '');
    this.#end({ failure });
  }

  #end(ending: { readonly value?: JsonValue; readonly failure?: CodeRunFailure }): void {
    this.#ended = true;
    const wallMs = performance.now() - this.#startedMs;
    clearTimeout(this.#wallTimeout);
    clearTimeout(this.#cpuTimeout);
    clearImmediate(this.#delivery);
    for (const timeout of this.#timers.values()) clearTimeout(timeout);
    this.#job.request.signal?.removeEventListener('abort', this.#onAbort);
    void this.#calls.end(this.#job.limits.abortGraceMs).then(() => {
      const journal = (): CodeRunJournal => this.#journal(ending.failure === undefined);
      let written: CodeRunJournal | undefined;
      this.#resolve({
        ...ending,
        logs: this.#ledger.logs,
        warnings: this.#warnings,
        calls: this.#calls.records,
        usage: {
          cpuMs: this.#cpuMs,
          wallMs,
          calls: this.#calls.records.length,
          outputBytes: this.#ledger.bytes,
        },
        get journal() {
          return (written ??= journal());
        },
      });
    });
  }

  #journal(completed: boolean): CodeRunJournal {
    return {
      version: 1,
      program: this.#job.request.program,
      seed: this.#seed,
      startTimeMs: this.#startTimeMs,
      calls: this.#calls.records.map(({ global, name, arguments: args }) => ({
        global,
        name,
        arguments: args,
      })),
      batches: this.#batches.map((batch) => JSON.parse(batch) as CodeRunJournalBatch),
      outcome: completed ? 'completed' : 'failed',
    };
  }
}
