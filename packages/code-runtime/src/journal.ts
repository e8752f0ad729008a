import type { CodeCallRecord, CodeRunFailure } from './code-runtime.ts';
import type { JsonValue } from './json.ts';

/** How one call was settled, as the program was told. */
export type CodeRunSettlement =
  | { readonly id: number; readonly value?: JsonValue }
  | { readonly id: number; readonly error: { readonly message: string; readonly code?: string } }
  | { readonly timer: number };

/** Settlements that reached the program together, and the clock that it read from then on. */
export interface CodeRunJournalBatch {
  /** Milliseconds since the run's start. */
  readonly atMs: number;
  readonly settlements: readonly CodeRunSettlement[];
}

/**
 * Everything a run depended on: a program computes the same again from exactly this. Plain JSON, so that it can be logged.
 */
export interface CodeRunJournal {
  readonly version: 1;
  /** The program as it was handed in. */
  readonly program: string;
  /** Seed of `Math.random` and `crypto`. */
  readonly seed: string;
  /** What `Date.now()` said at the start, in milliseconds since 1970. */
  readonly startTimeMs: number;
  /** Calls in program order; a call's id is its index plus one. */
  readonly calls: readonly Pick<CodeCallRecord, 'global' | 'name' | 'arguments' | 'outcome'>[];
  /** Settlements in the order in which the program saw them. */
  readonly batches: readonly CodeRunJournalBatch[];
  /** How the run failed; absent when the program returned. */
  readonly failure?: Pick<CodeRunFailure, 'kind' | 'message'>;
}
