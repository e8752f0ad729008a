import type { CodeBindingNamespace } from './bindings.ts';
import type { CodeRunJournal } from './journal.ts';
import type { JsonValue } from './json.ts';
import type { CodeRunLimits } from './limits.ts';

/** Runs programs. */
export interface CodeRuntime {
  readonly language: 'typescript';
  /** What executes the program: `isolated-vm`, `quickjs`, … */
  readonly engine: string;
  /** One phrase on what stands between a program and the host, for people. */
  readonly isolation: string;
  /**
   * Runs one program.
   *
   * Resolves whenever the program could be given to an engine: a program that fails is a result
   * with `failure`. Rejects with a `TypeError` for misuse (a bad binding name, a bad limit) and
   * with a `CodeRuntimeError` when the runtime itself cannot work.
   */
  run(request: CodeRunRequest): Promise<CodeRunResult>;
  /** Ends the runs in flight as `aborted` and releases every process, thread and timer. Idempotent. */
  dispose(): Promise<void>;
}

/** One program and all that it may depend on. */
export interface CodeRunRequest {
  /** The body of an async TypeScript function; `docs/programs.md` says what else is accepted. */
  readonly program: string;
  /** The globals that lead back to the host. */
  readonly bindings: readonly CodeBindingNamespace[];
  /** TypeScript declarations of the bindings, for the check before the run. */
  readonly declarations?: string;
  /** Budgets that differ from the runtime's own. */
  readonly limits?: Partial<CodeRunLimits>;
  /** Ends the run as `aborted`. */
  readonly signal?: AbortSignal;
  /** Seed of `Math.random` and `crypto`; a fresh one when omitted. */
  readonly seed?: string;
  /** What `Date.now()` says at the start, in milliseconds since 1970; the present when omitted. */
  readonly startTimeMs?: number;
  /**
   * Takes seed, start and every settlement from this journal instead of calling the host functions.
   * A program that takes another course than the recorded one ends with `divergence`.
   */
  readonly replay?: CodeRunJournal;
  /** Told what happens while it happens. Must not throw. */
  onEvent?(event: CodeRunEvent): void;
}

/** What came of a run. `value` and `failure` exclude each other. */
export interface CodeRunResult {
  /** What the program returned; absent when it returned `undefined` or failed. */
  readonly value?: JsonValue;
  /** Console entries in order, kept whatever became of the run. */
  readonly logs: readonly CodeLogEntry[];
  /** What did not end the run but should be known. */
  readonly warnings: readonly CodeRunWarning[];
  readonly failure?: CodeRunFailure;
  /** The calls that the program made, in program order; those of a computation that was cut short never left it. */
  readonly calls: readonly CodeCallRecord[];
  readonly usage: CodeRunUsage;
  readonly journal: CodeRunJournal;
}

/** One console entry. */
export interface CodeLogEntry {
  readonly level: 'debug' | 'log' | 'info' | 'warn' | 'error';
  readonly text: string;
}

/** Something that did not end the run: a converted value, a skipped check. */
export interface CodeRunWarning {
  /** Stable, machine-readable. */
  readonly code: string;
  readonly message: string;
  /** Where in the value, as `$.members[2].name`. */
  readonly path?: string;
  /** Line of the program, from 1. */
  readonly line?: number;
}

/** One call of a host function. */
export interface CodeCallRecord {
  /** In program order: `1`, `2`, … */
  readonly id: string;
  /** The namespace's global. */
  readonly global: string;
  /** The member's exact name. */
  readonly name: string;
  /** The positional arguments. */
  readonly arguments: readonly JsonValue[];
  /** Milliseconds from the start of the host function to its settlement or the run's end. */
  readonly durationMs: number;
  /**
   * `not-started`: the host function was never called. `aborted`: it settled after it was told to
   * stop. `outcome-unknown`: it was told to stop and did not settle within `abortGraceMs`.
   */
  readonly outcome: 'done' | 'failed' | 'not-started' | 'aborted' | 'outcome-unknown';
}

/** Why a run failed; orthogonal, `docs/errors.md` has a row for each. */
export type CodeRunFailureKind =
  | 'syntax'
  | 'check'
  | 'exception'
  | 'cpu-limit'
  | 'wall-limit'
  | 'memory-limit'
  | 'output-limit'
  | 'source-limit'
  | 'call-limit'
  | 'deadlock'
  | 'invalid-output'
  | 'divergence'
  | 'aborted'
  | 'worker-crash';

/** Why a run failed, and where. Lines and columns count from 1 and are the program's own. */
export interface CodeRunFailure {
  readonly kind: CodeRunFailureKind;
  /** One sentence; the program's or the tool's own words where they raised it. */
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
  /** Three lines of the program around the place, with a marker under it. */
  readonly frame?: string;
  /** The error's class name, for `exception`. */
  readonly name?: string;
  /** The error's `code`, when it had one. */
  readonly code?: string;
  /** The call whose rejection ended the program. */
  readonly call?: { readonly id: string; readonly global: string; readonly name: string };
}

/** What a run cost. */
export interface CodeRunUsage {
  /** Milliseconds of computing in the engine. */
  readonly cpuMs: number;
  /** Milliseconds from start to settlement, without the wait for a worker. */
  readonly wallMs: number;
  /** Calls that the program made. */
  readonly calls: number;
  /** Bytes of logs and value. */
  readonly outputBytes: number;
}

/** What `CodeRunRequest.onEvent` is told. */
export type CodeRunEvent =
  | { readonly type: 'log'; readonly entry: CodeLogEntry }
  | {
      readonly type: 'call-start';
      readonly id: string;
      readonly global: string;
      readonly name: string;
      readonly arguments: readonly JsonValue[];
    }
  | { readonly type: 'call-end'; readonly call: CodeCallRecord };
