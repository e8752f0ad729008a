import type { JsonValue } from '@carrel/code-runtime';
import type { WireTool } from '@carrel/tools-registry';

/** One part of an assistant's message. */
export type AssistantPart =
  | { readonly type: 'text'; readonly text: string }
  /** `signature` and the like, handed back to the provider unchanged. */
  | { readonly type: 'reasoning'; readonly text: string; readonly providerMetadata?: JsonValue }
  | {
      readonly type: 'tool-call';
      readonly id: string;
      readonly name: string;
      readonly arguments: JsonValue;
    };

/** A message of a request, after the system blocks. */
export type ModelMessage =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly content: readonly AssistantPart[] }
  | {
      readonly role: 'tool';
      readonly callId: string;
      readonly toolName: string;
      readonly isError: boolean;
      readonly content: readonly (
        | { readonly type: 'text'; readonly text: string }
        | { readonly type: 'image'; readonly mediaType: string; readonly base64: string }
      )[];
    };

/** One request, complete: a model needs nothing else to answer. Plain JSON, deeply frozen. */
export interface ModelRequest {
  /** System blocks in order: the stable one, then the session-varying one. Empty blocks are absent. */
  readonly system: readonly string[];
  readonly tools: readonly WireTool[];
  /** The session prefix, then the derived history. */
  readonly messages: readonly ModelMessage[];
  /** Output tokens at most. */
  readonly maxOutputTokens?: number;
  /** Handed to the provider unchanged. */
  readonly providerOptions?: JsonValue;
}

/** Tokens of one request, as the provider counted them. */
export interface ModelUsage {
  /** All input tokens, cached or not. */
  readonly inputTokens: number;
  /** Of these, read from the provider's cache. */
  readonly cacheReadTokens: number;
  /** Of these, written to the provider's cache. */
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
}

/** Why a model stopped. */
export type ModelFinishReason = 'stop' | 'tool-calls' | 'max-tokens' | 'content-filter' | 'other';

/** What a model's stream is made of; ends with exactly one `finish` or `error`. */
export type ModelStreamPart =
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly text: string }
  /** Ends the reasoning begun by the deltas before it, with what the provider wants back. */
  | { readonly type: 'reasoning-end'; readonly providerMetadata?: JsonValue }
  /** Once its arguments are complete; `argumentsText` instead of `arguments` when they are no JSON. */
  | {
      readonly type: 'tool-call';
      readonly id: string;
      readonly name: string;
      readonly arguments: JsonValue;
    }
  | {
      readonly type: 'invalid-tool-call';
      readonly id: string;
      readonly name: string;
      readonly argumentsText: string;
    }
  | { readonly type: 'finish'; readonly reason: ModelFinishReason; readonly usage: ModelUsage }
  | { readonly type: 'error'; readonly error: ModelError };

/** Why a model gave no answer. */
export interface ModelError {
  readonly code:
    | 'unauthorized'
    | 'rate-limited'
    | 'overloaded'
    | 'context-overflow'
    | 'invalid-request'
    | 'network'
    | 'aborted'
    | 'unknown';
  /** One sentence, fit for a person. */
  readonly message: string;
  /** Whether the same request may succeed when sent again. */
  readonly retryable: boolean;
}

/** A language model. */
export interface Model {
  /** `provider/model`; recorded in every request header. */
  readonly id: string;
  /** Tokens of input and output that fit together. */
  readonly contextWindowTokens: number;
  /**
   * Sends one request. Failures are `error` parts: the stream must not throw, and the call must
   * not reject. Ends soon after `signal` is aborted.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelStreamPart>;
}
