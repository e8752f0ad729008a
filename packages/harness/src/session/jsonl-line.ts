import { createHash } from 'node:crypto';

/** What stands for the hash of the line before the first. */
export const FIRST_PREVIOUS_HASH = '0'.repeat(64);

/** The hash of a line: sha256 over the hash of the line before it and the text of its event. */
export function lineHash(previousHash: string, eventText: string): string {
  return createHash('sha256').update(previousHash).update(eventText).digest('hex');
}

/**
 * One line of a session file, with its line end. The hash comes first and has a fixed length, so
 * that a reader finds the bytes of the event without encoding it again.
 */
export function jsonlLine(hash: string, eventText: string): string {
  return `{"hash":"${hash}","event":${eventText}}\n`;
}
