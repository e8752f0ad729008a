import { randomUUID } from 'node:crypto';
import {
  type CodeRunEvent,
  type CodeRunFailure,
  type CodeRunJournal,
  type CodeRunJournalBatch,
  type CodeRunLimits,
  type CodeRunRequest,
  type CodeRunResult,
  type CodeRunWarning,
  type JsonValue,
} from '@carrel/code-runtime';
import { HostCalls } from './host-calls.ts';
import { LiveSettlements } from './live-settlements.ts';
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
import { ReplayedSettlements } from './replayed-settlements.ts';
import type { SettlementSource } from './settlement-source.ts';
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
  readonly #settlements: SettlementSource;
  readonly #ledger: OutputLedger;
  readonly #warnings: CodeRunWarning[];
  readonly #seed: string;
  readonly #startTimeMs: number;
  readonly #startedMs = performance.now();
  /** Each a `CodeRunJournalBatch` as JSON: parsed only when somebody asks for the journal. */
  readonly #batches: string[] = [];
  #cpuMs = 0;
  /** A guest whose program has ended is gone: its worker drops it unasked. */
  #guest: 'computing' | 'quiet' | 'gone' = 'quiet';
  #ended = false;
  #cpuTimeout: NodeJS.Timeout | undefined;
  #wallTimeout: NodeJS.Timeout | undefined;

  constructor(worker: WorkerProcess, job: ProgramJob, resolve: (result: CodeRunResult) => void) {
    this.#worker = worker;
    this.#job = job;
    this.#resolve = resolve;
    const { bindings, replay, seed, startTimeMs } = job.request;
    const onEvent = (event: CodeRunEvent): void => this.#tell(event);
    const deliver = (batchText: string): void => this.#deliver(batchText);
    this.#settlements =
      replay === undefined
        ? new LiveSettlements((onSettled) => new HostCalls(bindings, onEvent, onSettled), deliver)
        : new ReplayedSettlements(replay, bindings, onEvent, deliver);
    this.#ledger = new OutputLedger(job.limits.maxOutputBytes);
    this.#warnings = [...job.warnings];
    this.#seed = replay?.seed ?? seed ?? randomUUID();
    this.#startTimeMs = replay?.startTimeMs ?? startTimeMs ?? Date.now();
  }

  begin(): void {
    const { request, limits, javascript } = this.#job;
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
    // Last, since a worker that has died meanwhile ends the run at once.
    this.#worker.listen({
      onFrame: (kind, body) => this.#receive(kind, body),
      onGone: (death) => this.#lose(death),
    });
  }

  #tell(event: CodeRunEvent): void {
    try {
      this.#job.request.onEvent?.(event);
    } catch (error) {
      // A spectator must not change what happens; it is told of as loudly as is harmless.
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }

  readonly #onAbort = (): void => {
    this.#fail({ kind: 'aborted', message: 'The run was cancelled' });
  };

  /** Lets the guest compute, until it reports. */
  #compute(kind: typeof FrameKind.run | typeof FrameKind.settle, body: string): void {
    this.#guest = 'computing';
    const leftMs = Math.max(0, this.#job.limits.cpuMs - this.#cpuMs);
    this.#cpuTimeout = setTimeout(() => this.#failOnCpu(), leftMs + CPU_GRACE_MS);
    this.#worker.send(kind, body);
  }

  #receive(kind: number, body: string): void {
    if (this.#ended) return;
    if (this.#guest !== 'computing') throw new ProtocolError('a quiet guest spoke');
    switch (kind) {
      case FrameKind.log: {
        const entry = readLog(body);
        if (this.#ledger.log(entry)) this.#tell({ type: 'log', entry });
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
    this.#guest = report.outcome === undefined ? 'quiet' : 'gone';
    clearTimeout(this.#cpuTimeout);
    this.#cpuMs = Math.max(this.#cpuMs, cpuMs);
    const failure = this.#settlements.take(report);
    if (failure !== undefined) this.#fail(failure);
    else if (report.outcome !== undefined) this.#conclude(report.outcome);
  }

  #deliver(batchText: string): void {
    this.#batches.push(batchText);
    this.#compute(FrameKind.settle, batchText);
  }

  #conclude({ value, valueBytes = 0, warnings = [], failure }: GuestOutcome): void {
    for (const { path, message } of warnings) {
      this.#warnings.push({ code: 'value-converted', path, message });
    }
    if (failure !== undefined) {
      const { kind, message, name, code, stack, callId } = failure;
      const call = callId === undefined ? undefined : this.#settlements.records[callId - 1];
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
    else if (this.#ledger.value(valueBytes)) this.#end({ value });
    else this.#failOnOutput();
  }

  #lose({ outOfMemory }: WorkerDeath): void {
    this.#fail(
      outOfMemory
        ? { kind: 'memory-limit', message: 'The program used too much memory' }
        : { kind: 'worker-crash', message: 'The process that ran the program died' },
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
    if (this.#guest === 'computing') this.#worker.kill(failure.message);
    else if (this.#guest === 'quiet') this.#worker.send(FrameKind.drop, '');
    this.#end({ failure });
  }

  #end(ending: { readonly value?: JsonValue; readonly failure?: CodeRunFailure }): void {
    this.#ended = true;
    this.#worker.listen(undefined);
    const wallMs = performance.now() - this.#startedMs;
    clearTimeout(this.#wallTimeout);
    clearTimeout(this.#cpuTimeout);
    this.#job.request.signal?.removeEventListener('abort', this.#onAbort);
    void this.#settlements.end(this.#job.limits.abortGraceMs).then(() => {
      const journal = (): CodeRunJournal => this.#journal(ending.failure);
      let written: CodeRunJournal | undefined;
      this.#resolve({
        ...ending,
        logs: this.#ledger.logs,
        warnings: this.#warnings,
        calls: this.#settlements.records,
        usage: {
          cpuMs: this.#cpuMs,
          wallMs,
          calls: this.#settlements.records.length,
          outputBytes: this.#ledger.bytes,
        },
        get journal() {
          return (written ??= journal());
        },
      });
    });
  }

  #journal(failure: CodeRunFailure | undefined): CodeRunJournal {
    return {
      version: 1,
      program: this.#job.request.program,
      seed: this.#seed,
      startTimeMs: this.#startTimeMs,
      calls: this.#settlements.records.map(({ global, name, arguments: args, outcome }) => ({
        global,
        name,
        arguments: args,
        outcome,
      })),
      batches: this.#batches.map((batch) => JSON.parse(batch) as CodeRunJournalBatch),
      ...(failure === undefined
        ? {}
        : { failure: { kind: failure.kind, message: failure.message } }),
    };
  }
}
