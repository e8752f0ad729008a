import type { ToolCall, Tool } from '../tool.ts';
import type { ToolResult } from '../tool-result.ts';

/** The one mutable record of a call on its way through the pipeline; wrappers change it in place. */
export interface ToolExecution {
  readonly call: ToolCall;
  /** The tool that is called. */
  readonly tool: Tool;
  /** The call of `run_code` that this call was made from, for a sub-call. */
  readonly parentCallId: string | undefined;
  /** What the body is told to listen to; a wrapper may narrow it and must restore it. */
  signal: AbortSignal;
}

/** What a `tools/pre-execute` listener decides. */
export type PreExecuteDecision =
  | { readonly decision: 'allow' }
  | { readonly decision: 'deny'; readonly reason: string }
  /** Somebody has to approve; with nobody to ask it is a denial with its own text. */
  | { readonly decision: 'ask'; readonly reason: string };

/** What a `tools/post-execute` listener decides. */
export type PostExecuteDecision =
  | {
      readonly decision: 'accept';
      readonly content?: ToolResult['content'];
      readonly additionalContext?: readonly string[];
    }
  /** The call counts as failed, and the model reads `feedback`. */
  | { readonly decision: 'block'; readonly feedback: string };

/** Continues with the next listener, or the innermost step. Takes no argument; called at most once. */
export type Next<Result> = () => Promise<Result>;

/** The three chains that every call passes, native calls and sub-calls alike. */
export interface ToolMiddleware {
  /** Before dispatch. The arguments are already logged and cannot be changed here. */
  'tools/pre-execute': (
    execution: ToolExecution,
    next: Next<PreExecuteDecision>,
  ) => Promise<PreExecuteDecision>;
  /** Around the dispatch: `next()` validates the arguments and runs the body. */
  'tools/execute': (execution: ToolExecution, next: Next<ToolResult>) => Promise<ToolResult>;
  /** After dispatch, also after a denial. `result` is a snapshot. */
  'tools/post-execute': (
    execution: ToolExecution & { readonly result: ToolResult },
    next: Next<PostExecuteDecision>,
  ) => Promise<PostExecuteDecision>;
}

/** Asks somebody whether a call may run. */
export type ApprovalHandler = (
  execution: ToolExecution,
  reason: string,
) => Promise<{ readonly approved: boolean; readonly reason?: string }>;
