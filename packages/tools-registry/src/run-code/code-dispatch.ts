import type { CodeCallRecord, CodeRunJournal, JsonValue } from '@carrel/code-runtime';
import type { ToolResult } from '../tool-result.ts';

/** A sub-call of a program, as it starts and as it settles; the harness logs both. */
export type CodeDispatchEvent =
  | {
      readonly phase: 'start';
      readonly parentCallId: string;
      readonly callId: string;
      readonly toolName: string;
      readonly arguments: JsonValue;
    }
  | {
      readonly phase: 'settle';
      readonly parentCallId: string;
      readonly callId: string;
      readonly toolName: string;
      readonly outcome: CodeCallRecord['outcome'];
      readonly result: ToolResult;
      /** Milliseconds in the body, without the wait in the queue. */
      readonly durationMs: number;
      /** Milliseconds in the queue. */
      readonly queuedMs: number;
    };

/** What `run_code` leaves in `ToolResult.details`. */
export interface CodeRunDetails {
  readonly journal: CodeRunJournal;
  readonly calls: readonly CodeCallRecord[];
}
