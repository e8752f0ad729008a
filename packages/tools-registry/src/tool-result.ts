import type { JsonValue } from '@carrel/code-runtime';

/** One piece of what a model reads of a result. */
export type ToolContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly mediaType: string; readonly base64: string };

/** Stable codes of failed calls; `docs/errors.md` has a row for each. */
export type ToolErrorCode =
  | 'UNKNOWN_TOOL'
  | 'TOOL_NOT_ADVERTISED'
  | 'INVALID_ARGUMENTS'
  | 'INVALID_OUTPUT'
  | 'TOOL_DENIED'
  | 'APPROVAL_UNAVAILABLE'
  | 'TOOL_TIMEOUT'
  | 'TOOL_ABORTED'
  | 'TOOL_FAILED'
  | 'CODE_RUN_FAILED';

/** What came of one tool call. A failed call is such a result, never an exception. */
export interface ToolResult {
  readonly isError: boolean;
  /** What the model reads. */
  readonly content: readonly ToolContent[];
  /** What a program gets; absent for no value, for content that is not data, and for a failed call. */
  readonly value?: JsonValue;
  /** Present exactly when `isError`; `code` is one of {@link ToolErrorCode} or the tool's own. */
  readonly error?: { readonly code: string; readonly message: string };
  /** Messages for the conversation after the result, in order. */
  readonly additionalContext?: readonly string[];
  /** Facts for people and logs; the model does not read them. */
  readonly details?: JsonValue;
}
