import { CarrelError, messageOf } from '@carrel/code-runtime';
import type { JsonValue } from '@carrel/code-runtime';
import { encodeArgument, parseJson } from '@carrel/code-runtime/json';

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

/** What {@link toolResult} takes; every member may be absent. */
export interface ToolResultOptions {
  /** What a program gets: a JSON value, or `undefined` for none. Left out, it is the text of `content`. */
  readonly value?: unknown;
  /** What the model reads. Without it, the text of `value`. A string is one piece of text. */
  readonly content?: string | readonly ToolContent[];
  /** Makes the call a failed one. A string is the message; the code is `TOOL_FAILED` then. */
  readonly error?: string | { readonly code?: string; readonly message: string };
  /** Messages for the conversation after the result, in order. */
  readonly additionalContext?: readonly string[];
  /** Facts for people and logs, as JSON; the model does not read them. */
  readonly details?: unknown;
}

/** What the model reads of a call that answered with nothing. */
const NO_VALUE_TEXT = 'no value returned';

/** Characters of an error's message that are kept; no error text needs more, and a hostile one may have millions. */
const MAX_ERROR_MESSAGE_LENGTH = 64 * 1024;

// A symbol of the global registry, so that a result made by another copy of this package counts too.
const BRAND = Symbol.for('carrel.tool-result');

/**
 * Makes the result of a call whose body has more to say than a value: images, an error with a code
 * of its own, messages for the conversation, facts for the log.
 *
 * @throws TypeError for `content` that is not a string or an array of text and image pieces
 * @throws JsonConversionError for a `value` or `details` that JSON cannot say, naming the path
 */
export function toolResult(options: ToolResultOptions): ToolResult {
  const { value, content, error, additionalContext, details } = options;
  const failure = typeof error === 'string' ? { message: error } : error;
  const json = toJson(value);
  const message = failure === undefined ? undefined : bounded(failure.message);
  const pieces = contentOf(content, message ?? valueText(json));
  const data = 'value' in options || content === undefined ? json : contentText(pieces);
  const detailsJson = toJson(details);
  return branded({
    isError: failure !== undefined,
    content: pieces,
    ...(data === undefined || failure !== undefined ? {} : { value: data }),
    ...(message === undefined ? {} : { error: { code: failure?.code ?? 'TOOL_FAILED', message } }),
    ...(additionalContext === undefined ? {} : { additionalContext: [...additionalContext] }),
    ...(detailsJson === undefined ? {} : { details: detailsJson }),
  });
}

/** Whether `value` was made by {@link toolResult}, and is not just data of a similar shape. */
export function isToolResult(value: unknown): value is ToolResult {
  return typeof value === 'object' && value !== null && BRAND in value;
}

/**
 * The result that stands for what a body answered with: a result as it is, a string as it is, other
 * JSON as compact JSON, `undefined` as {@link NO_VALUE_TEXT}.
 *
 * @throws JsonConversionError for a value that JSON cannot say, naming the path
 */
export function resultOfValue(value: unknown): ToolResult {
  return isToolResult(value) ? value : toolResult({ value });
}

/** A failed call with this code, whose message is what the model reads. */
export function errorResult(code: ToolErrorCode | (string & {}), message: string): ToolResult {
  return toolResult({ error: { code, message } });
}

/**
 * The failed call that stands for what was thrown: its message as it is and, where it has one, its
 * `code`. Nothing else of an error is told; above all not its stack.
 */
export function resultOfError(error: unknown): ToolResult {
  return errorResult(codeOf(error) ?? 'TOOL_FAILED', messageOf(error));
}

/** `result` with other members; a member that is `undefined` is taken away. */
export function amendedResult(
  result: ToolResult,
  changes: { readonly [Member in keyof ToolResult]?: ToolResult[Member] | undefined },
): ToolResult {
  const members = Object.entries({ ...result, ...changes });
  const present = members.filter(([, value]) => value !== undefined);
  return branded(Object.fromEntries(present) as unknown as ToolResult);
}

/** What a model reads of a value: a string as it is, other JSON compact, nothing as a stated text. */
export function valueText(value: JsonValue | undefined): string {
  if (value === undefined) return NO_VALUE_TEXT;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The text pieces of a content, one a line; `undefined` when there is none. */
export function contentText(content: readonly ToolContent[]): string | undefined {
  const texts = content.flatMap((piece) => (piece.type === 'text' ? [piece.text] : []));
  return texts.length === 0 ? undefined : texts.join('\n');
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  return CarrelError.isInstance(error) ? error.code : memberText(error, 'code');
}

function memberText(error: object, member: string): string | undefined {
  try {
    const text = (error as Record<string, unknown>)[member];
    return typeof text === 'string' && text !== '' ? text : undefined;
  } catch {
    return undefined; // A getter of a foreign error threw: it has nothing to tell then.
  }
}

function toJson(value: unknown): JsonValue | undefined {
  const text = encodeArgument(value);
  return text === undefined ? undefined : parseJson(text);
}

function contentOf(
  content: ToolResultOptions['content'],
  fallback: string,
): readonly ToolContent[] {
  if (content === undefined) return [{ type: 'text', text: fallback }];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content) || !content.every(isContent)) {
    throw new TypeError(
      `Expected \`content\` to be a string or an array of text and image pieces, got ${describe(content)}`,
    );
  }
  return content.map((piece) => ({ ...piece }));
}

function isContent(piece: unknown): piece is ToolContent {
  if (typeof piece !== 'object' || piece === null) return false;
  const { type, text, mediaType, base64 } = piece as Record<string, unknown>;
  return (
    (type === 'text' && typeof text === 'string') ||
    (type === 'image' && typeof mediaType === 'string' && typeof base64 === 'string')
  );
}

function describe(value: unknown): string {
  return Array.isArray(value) ? 'an array with other members' : typeof value;
}

function bounded(text: string): string {
  const cut = text.length - MAX_ERROR_MESSAGE_LENGTH;
  return cut <= 0 ? text : `${text.slice(0, -cut)}… (${cut} more characters were cut)`;
}

function branded(result: ToolResult): ToolResult {
  return Object.defineProperty(result, BRAND, { value: true });
}
