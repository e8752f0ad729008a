import { encodeLossless } from '@carrel/code-runtime';
import type { SessionEvent } from '../session/session-events.ts';
import type { EpochHeader } from './request-header.ts';

/** What a header is made of, before what is empty is left out. */
export interface HeaderParts {
  readonly model: string;
  readonly system: NonNullable<EpochHeader['system']>;
  readonly tools: NonNullable<EpochHeader['tools']>;
  readonly messagePrefix: NonNullable<EpochHeader['messagePrefix']>;
  readonly maxOutputTokens: number | undefined;
}

/** The header of these parts: always in the same order, and without what is empty. */
export function canonicalHeader(parts: HeaderParts): EpochHeader {
  const { model, system, tools, messagePrefix, maxOutputTokens } = parts;
  return {
    model,
    ...(system.length > 0 ? { system } : {}),
    ...(tools.length > 0 ? { tools } : {}),
    ...(messagePrefix.length > 0 ? { messagePrefix } : {}),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
  };
}

/**
 * Whether two canonical headers are equal to the byte.
 *
 * @throws JsonConversionError for a header that JSON cannot say
 */
export function equalHeaders(one: EpochHeader, other: EpochHeader): boolean {
  return one === other || encodeLossless(one) === encodeLossless(other);
}

/** The header that holds after these events; `undefined` before the first. */
export function foldedHeader(events: readonly SessionEvent[]): EpochHeader | undefined {
  const last = events.findLast(({ type }) => type === 'request/header');
  return last?.type === 'request/header' ? last.data.header : undefined;
}
