import type { NoticeKind } from '../guest/host.ts';
import { FINISHED } from '../guest/report-mark.ts';
import type { EndedMessage } from '../protocol.ts';

/** Runs guests in this process, one at a time. */
export interface Engine {
  readonly name: 'isolated-vm' | 'quickjs';
  /** A fresh guest, with its globals in place and no program yet. */
  createGuest(options: GuestOptions): Promise<Guest>;
}

/** What a guest is made with. */
export interface GuestOptions {
  readonly memoryBytes: number;
  /** Called while the guest stands still. */
  readonly notice: (kind: NoticeKind, text: string) => void;
}

/** One program's own realm. Every method runs the guest until it is quiet. */
export interface Guest {
  /** @param cpuMs - milliseconds that this slice may compute */
  start(optionsText: string, cpuMs: number): SliceEnd;
  /** @param cpuMs - milliseconds that this slice may compute */
  settle(batchText: string, cpuMs: number): SliceEnd;
  /** Milliseconds computed since the program started. */
  cpuMs(): number;
  dispose(): void;
}

/** What a slice ended with: the guest's report as JSON, or the engine's own ending. */
export type SliceEnd =
  | { readonly reportText: string; readonly finished: boolean }
  | { readonly ended: Omit<EndedMessage, 'cpuMs'> };

/** Reads what the guest's `report` answered with: one character, then the report. */
export function readSlice(answer: string): SliceEnd {
  return { reportText: answer.slice(1), finished: answer[0] === FINISHED };
}
