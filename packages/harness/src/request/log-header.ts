import type { SessionLog } from '../session/session-log.ts';
import { equalHeaders, foldedHeader } from './canonical-header.ts';
import type { EpochHeader } from './request-header.ts';

/**
 * Makes `header` the one that holds, and waits until the log says so durably. An equal one is not
 * logged again.
 *
 * @returns the header as it stands in the log
 * @throws HarnessError `store-failed`, or `event-not-json` for a header that JSON cannot say
 */
export async function logHeader(log: SessionLog, header: EpochHeader): Promise<EpochHeader> {
  const before = foldedHeader(log.events);
  // An append refuses what JSON cannot say by name, so it comes before a comparison that would throw.
  if (before === undefined) log.append('request/header', { header, reason: 'initial' });
  else if (!sameAs(before, header)) log.append('request/header', { header, reason: 'changed' });
  await log.flush();
  return foldedHeader(log.events) ?? header;
}

function sameAs(before: EpochHeader, header: EpochHeader): boolean {
  try {
    return equalHeaders(before, header);
  } catch {
    return false; // JSON cannot say `header`; the append that follows says where.
  }
}
