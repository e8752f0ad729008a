// The guest's only way out. The worker puts the function on the global object before the first
// guest module is evaluated; it is taken here and removed, so that no program can ever reach it.

/** What the guest tells the worker at once, before it goes on; everything else waits for a report. */
export type NoticeKind = 'log' | 'limit';

interface EntryPoint {
  carrelNotice?: (kind: NoticeKind, text: string) => void;
}

const entry = globalThis as EntryPoint;
const { carrelNotice } = entry;
if (carrelNotice === undefined) throw new Error('no way out');
delete entry.carrelNotice;

/** Hands `text` over before the guest goes on. */
export const notice = carrelNotice;
