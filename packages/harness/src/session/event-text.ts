import { encodeLossless, parseJson } from '@carrel/code-runtime';
import { deepFreeze } from '@carrel/code-runtime';
import type { SessionEvent } from './session-events.ts';

/**
 * The one text of an event: what a store writes, what its hash is over, what a request is verified
 * against. Decoding and encoding it again gives the same text.
 *
 * @throws JsonConversionError naming the path of what JSON cannot say
 */
export function encodeEvent(event: SessionEvent): string {
  return encodeLossless(event);
}

/**
 * The event of a text that {@link encodeEvent} made, deeply frozen.
 *
 * @throws SyntaxError for text that is not JSON
 */
export function decodeEvent(text: string): SessionEvent {
  return deepFreeze(parseJson(text)) as unknown as SessionEvent;
}
