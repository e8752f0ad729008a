import type { CodeCallRecord, CodeRunFailure } from '@carrel/code-runtime';
import type { GuestReport } from './protocol.ts';

/** Where a run's settlements come from: host functions and timers, or a journal. */
export interface SettlementSource {
  /** Every call so far, in program order. */
  readonly records: readonly CodeCallRecord[];
  /**
   * Takes what a guest that is quiet now has asked for.
   *
   * @returns why the run cannot go on, if it cannot
   * @throws ProtocolError when the guest asks for what there is not
   */
  take(report: GuestReport): CodeRunFailure | undefined;
  /** The run is over: what is in flight is told to stop, and waited for within `graceMs`. */
  end(graceMs: number): Promise<void>;
}

/** Hands a batch to the guest, a `CodeRunJournalBatch` as JSON. The guest is quiet when it is called. */
export type Deliver = (batchText: string) => void;
