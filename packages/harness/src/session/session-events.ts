import type { CodeRunJournal, JsonValue } from '@carrel/code-runtime';
import type { CodeDispatchEvent, ToolContent } from '@carrel/tools-registry';
import type { AssistantPart, ModelError, ModelFinishReason, ModelUsage } from '../models/model.ts';
import type { EpochHeader, RequestHeaderReason } from '../request/request-header.ts';

/** How a turn ended. */
export type TurnEndReason =
  | { readonly type: 'completed' }
  | { readonly type: 'aborted'; readonly cause: string }
  | { readonly type: 'error'; readonly code: string; readonly message: string }
  | { readonly type: 'max-tokens' }
  | { readonly type: 'rejected'; readonly reason: string }
  | { readonly type: 'interrupted' };

/** Every kind of fact in a session log, by its type, with what it holds. */
export interface SessionEventMap {
  /** First event of a log. */
  'session/start': { readonly sessionId: string; readonly formatVersion: 1 };
  /** A loop took up an existing log. */
  'session/resume': { readonly generation: number };
  'turn/start': { readonly turn: number };
  'turn/end': { readonly turn: number; readonly reason: TurnEndReason };
  'step/start': { readonly turn: number; readonly step: number };
  'step/end': { readonly turn: number; readonly step: number };
  'user/message': { readonly messageId: string; readonly text: string };
  /** A message to the model that no person wrote. */
  'context/message': { readonly source: string; readonly text: string };
  'assistant/message': {
    readonly content: readonly AssistantPart[];
    readonly usage?: ModelUsage;
    readonly finishReason: ModelFinishReason | 'interrupted' | 'error';
  };
  /** Text as it streamed in; a later `assistant/message` holds it whole. */
  'assistant/chunk': { readonly text: string };
  'tool/call': {
    readonly callId: string;
    readonly toolName: string;
    readonly arguments: JsonValue;
  };
  'tool/result': {
    readonly callId: string;
    readonly toolName: string;
    readonly isError: boolean;
    readonly content: readonly ToolContent[];
    readonly error?: { readonly code: string; readonly message: string };
    /** The run of a `run_code` call, from which it can be rebuilt. */
    readonly journal?: CodeRunJournal;
    /** From when the registry got the call, and those it was handed over with, to their results. */
    readonly durationMs: number;
  };
  'tool/code-dispatch': CodeDispatchEvent;
  'request/header': { readonly header: EpochHeader; readonly reason: RequestHeaderReason };
  /** A request that brought no answer. */
  'request/error': { readonly error: ModelError };
  'compact/start': { readonly from: number; readonly to: number };
  /** Replaces the history that the events `from` to `to` derive to, both included. */
  'compact/end':
    | { readonly from: number; readonly to: number; readonly summary: string }
    | { readonly error: string };
}

/** The name of a kind of fact. */
export type SessionEventType = keyof SessionEventMap;

/** One fact of a session, as it stands in the log. */
export type SessionEvent = {
  [Type in SessionEventType]: {
    /** Position in the log, from 0, without gaps. */
    readonly seq: number;
    readonly type: Type;
    /** When it was appended, in milliseconds since 1970. */
    readonly time: number;
    readonly data: SessionEventMap[Type];
  };
}[SessionEventType];
