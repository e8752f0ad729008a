import { mkdir, open } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { messageOf } from '@carrel/code-runtime';
import { HarnessError } from '../errors.ts';
import type { EventLog, EventStore } from './event-store.ts';
import { JsonlEventLog } from './jsonl-event-log.ts';
import { sessionFileName } from './session-file-name.ts';

/** Options of {@link jsonlEventStore}. */
export interface JsonlEventStoreOptions {
  /** Where the session files are. Created when it does not exist, for its owner only (0700). */
  readonly directory: string;
}

/**
 * A store that keeps each session in one file of JSON lines, `{ hash, event }`, readable by its
 * owner only (0600). The hash of a line is over the one before it, so that no line can be changed,
 * left out or moved unnoticed. Flushed means fdatasync'ed.
 *
 * A directory that exists keeps the permissions that it has.
 *
 * @throws TypeError for a `directory` that is no path
 */
export function jsonlEventStore(options: JsonlEventStoreOptions): EventStore {
  if (typeof options.directory !== 'string' || options.directory === '') {
    throw new TypeError(
      `Expected \`directory\` to be a path, got ${JSON.stringify(options.directory)}`,
    );
  }
  const directory = resolve(options.directory);
  return { create: (sessionId) => createSession(directory, sessionId) };
}

async function createSession(directory: string, sessionId: string): Promise<EventLog> {
  const location = join(directory, sessionFileName(sessionId));
  try {
    const firstCreated = await mkdir(directory, { recursive: true, mode: 0o700 });
    // `wx` makes the file ours: of two that create one session, one fails.
    const file = await open(location, 'wx', 0o600);
    try {
      await syncDirectories(directory, firstCreated);
    } catch (error) {
      await file.close();
      throw error;
    }
    return new JsonlEventLog(sessionId, location, file);
  } catch (cause) {
    const { code, syscall } = cause as NodeJS.ErrnoException;
    // `mkdir` says the same when a file is in the place of the directory.
    if (code === 'EEXIST' && syscall === 'open') {
      const message = `There is a session ${JSON.stringify(sessionId)} already: ${location}`;
      throw new HarnessError(message, { code: 'session-exists', details: { location }, cause });
    }
    const message = `The session log ${location} could not be created: ${messageOf(cause)}`;
    throw new HarnessError(message, { code: 'store-failed', details: { location }, cause });
  }
}

/** Makes the new file's name durable and, where directories were created, theirs as well. */
async function syncDirectories(directory: string, firstCreated: string | undefined): Promise<void> {
  const last = firstCreated === undefined ? directory : dirname(firstCreated);
  for (let current = directory; ; current = dirname(current)) {
    const handle = await open(current, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (current === last) return;
  }
}
