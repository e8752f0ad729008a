import { createHash } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { JsonlEventLog } from './jsonl-event-log.ts';
import { jsonlEventStore } from './jsonl-event-store.ts';
import type { SessionEvent } from './session-events.ts';
import { sessionFileName } from './session-file-name.ts';
import { describeEventStore, eventAt } from './testing/event-store-conformance.ts';

const directories: string[] = [];

async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'carrel-store-'));
  directories.push(directory);
  return directory;
}

afterEach(async () => {
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true });
});

function linesOf(bytes: Buffer): readonly string[] {
  const text = bytes.toString('utf8');
  expect(text.endsWith('\n')).toBe(true);
  return text.slice(0, -1).split('\n');
}

describeEventStore('jsonlEventStore', async () => {
  const directory = await temporaryDirectory();
  return {
    store: jsonlEventStore({ directory }),
    read: async (sessionId) => {
      const lines = linesOf(await readFile(join(directory, sessionFileName(sessionId))));
      return lines.map((line) => (JSON.parse(line) as { event: SessionEvent }).event);
    },
  };
});

describe('jsonlEventStore', () => {
  it('writes lines whose hashes are chained over the bytes of the events', async () => {
    const log = await jsonlEventStore({ directory: await temporaryDirectory() }).create('one');
    log.append([eventAt(0, 'é\n'), eventAt(1)]);
    log.append([eventAt(2)]);
    await log.close();
    let previous = '0'.repeat(64);
    const lines = linesOf(await readFile(log.location));
    expect(lines).toHaveLength(3);
    for (const line of lines) {
      const [, hash, event] = /^\{"hash":"([0-9a-f]{64})","event":(\{.*\})\}$/.exec(line) ?? [];
      previous = createHash('sha256')
        .update(previous + event)
        .digest('hex');
      expect(hash).toBe(previous);
    }
  });

  it('makes a directory and a file that only their owner can use', async () => {
    const directory = join(await temporaryDirectory(), 'deep', 'sessions');
    const log = await jsonlEventStore({ directory }).create('one');
    await log.close();
    expect((await stat(log.location)).mode & 0o777).toBe(0o600);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect((await stat(join(directory, '..'))).mode & 0o777).toBe(0o700);
  });

  it('leaves the permissions of a directory that exists alone', async () => {
    const directory = await temporaryDirectory();
    await chmod(directory, 0o755);
    await (await jsonlEventStore({ directory }).create('one')).close();
    expect((await stat(directory)).mode & 0o777).toBe(0o755);
  });

  it('names a file inside the directory whatever the id is', async () => {
    const directory = await temporaryDirectory();
    const store = jsonlEventStore({ directory });
    for (const id of ['../../escape', '/etc/passwd', 'nested/id', '.hidden']) {
      await (await store.create(id)).close();
    }
    expect(await readdir(directory)).toHaveLength(4);
    expect((await readdir(directory)).every((name) => /^_[a-z0-9-]+\.jsonl$/.test(name))).toBe(
      true,
    );
  });

  it('says which directory it could not use', async () => {
    const file = join(await temporaryDirectory(), 'file');
    await writeFile(file, '');
    const created = jsonlEventStore({ directory: join(file, 'sessions') }).create('one');
    await expect(created).rejects.toMatchObject({ code: 'store-failed' });
    await expect(created).rejects.toThrow(file);
  });

  it('takes a file in the place of its directory for a failure, not for a session', async () => {
    const file = join(await temporaryDirectory(), 'file');
    await writeFile(file, '');
    const created = jsonlEventStore({ directory: file }).create('one');
    await expect(created).rejects.toMatchObject({ code: 'store-failed' });
  });

  it('refuses a directory that is no path', () => {
    expect(() => jsonlEventStore({ directory: '' })).toThrow(TypeError);
  });
});

/** A disk that notes what is done to it, and fails when told to. */
function recordedFile(): {
  readonly actions: string[];
  failing: string | undefined;
  appendFile(data: unknown): Promise<void>;
  datasync(): Promise<void>;
  close(): Promise<void>;
} {
  const act = (action: string): Promise<void> => {
    file.actions.push(action);
    const fails = file.failing !== undefined && action.startsWith(file.failing);
    return fails ? Promise.reject(new Error('ENOSPC: no space left')) : Promise.resolve();
  };
  const file = {
    actions: [] as string[],
    failing: undefined as string | undefined,
    appendFile: (data: unknown) => act(`write ${String(data).split('\n').length - 1}`),
    datasync: () => act('sync'),
    close: () => act('close'),
  };
  return file;
}

describe('JsonlEventLog', () => {
  it('syncs once for barriers that are asked for together', async () => {
    const file = recordedFile();
    const log = new JsonlEventLog('one', '/log', file);
    const barriers = [0, 1, 2].map((seq) => {
      log.append([eventAt(seq)]);
      return log.flush();
    });
    await Promise.all(barriers);
    expect(file.actions).toEqual(['write 3', 'sync']);
  });

  it('makes one write of all that is appended in one go', async () => {
    const file = recordedFile();
    const log = new JsonlEventLog('one', '/log', file);
    log.append([eventAt(0), eventAt(1)]);
    log.append([eventAt(2)]);
    await log.flush();
    log.append([eventAt(3)]);
    await log.flush();
    expect(file.actions).toEqual(['write 3', 'sync', 'write 1', 'sync']);
  });

  it('writes without being flushed, and does not sync what is synced', async () => {
    const file = recordedFile();
    const log = new JsonlEventLog('one', '/log', file);
    log.append([eventAt(0)]);
    await log.flush();
    await Promise.all([log.flush(), log.flush()]);
    await log.close();
    expect(file.actions).toEqual(['write 1', 'sync', 'close']);
  });

  it.each(['write', 'sync'])('never works again once a %s has failed', async (failing) => {
    const file = recordedFile();
    const log = new JsonlEventLog('one', '/log', file);
    file.failing = failing;
    log.append([eventAt(0)]);
    await expect(log.flush()).rejects.toMatchObject({
      code: 'store-failed',
      message: 'The session log /log could not be written: ENOSPC: no space left',
    });
    file.failing = undefined;
    const before = file.actions.length;
    log.append([eventAt(1)]);
    await expect(log.flush()).rejects.toMatchObject({ code: 'store-failed' });
    expect(file.actions).toHaveLength(before);
    await expect(log.close()).rejects.toMatchObject({ code: 'store-failed' });
    expect(file.actions.at(-1)).toBe('close');
  });
});
