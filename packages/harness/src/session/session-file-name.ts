import { createHash } from 'node:crypto';

// Lower case only: two ids that differ in case must not share a file where names do not.
const PLAIN = /^[a-z0-9][a-z0-9._-]{0,127}$/;

/**
 * The file of a session: its id where that is harmless as a name, else a name made of it that no
 * plain id has. Different ids have different names, on file systems that ignore case too.
 */
export function sessionFileName(sessionId: string): string {
  if (PLAIN.test(sessionId)) return `${sessionId}.jsonl`;
  const readable = sessionId
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 40);
  const digest = createHash('sha256').update(sessionId).digest('hex').slice(0, 32);
  return `_${readable}-${digest}.jsonl`;
}
