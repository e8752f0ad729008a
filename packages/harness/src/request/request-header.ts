import type { JsonValue } from '@carrel/code-runtime';
import type { WireTool } from '@carrel/tools-registry';
import type { ModelMessage } from '../models/model.ts';

/**
 * Everything of a request that is not derived history. Canonical: what is empty is absent, so that
 * equal headers are equal texts.
 */
export interface EpochHeader {
  readonly model: string;
  /** System blocks in order: stable, then session-varying. */
  readonly system?: readonly string[];
  readonly tools?: readonly WireTool[];
  /** The session prefix; nothing else logs it. */
  readonly messagePrefix?: readonly ModelMessage[];
  readonly maxOutputTokens?: number;
  readonly providerOptions?: JsonValue;
}

/** Why a header was logged: the session's first, the first of a resumed loop, or another value. */
export type RequestHeaderReason = 'initial' | 'resume' | 'changed';
