import { cp, mkdtemp, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from './options.ts';

/** Where one demonstration works and what it leaves. */
export interface DemoDirectories {
  /** What the agent's tools reach, and nothing outside it. */
  readonly workspace: string;
  /** Where the session log goes. */
  readonly sessions: string;
}

/** This file is built into `examples/dist/code-agent/`. */
const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
const NOT_COPIED = new Set(['node_modules', 'dist']);

/**
 * Finds the directory to work in, or copies this repository's `docs/` and `packages/` to a fresh
 * one.
 *
 * @param workspace - the directory that was asked for
 * @throws UsageError when it is none
 */
export async function openDirectories(workspace: string | undefined): Promise<DemoDirectories> {
  if (workspace !== undefined) await assertDirectory(workspace);
  const own = await mkdtemp(join(tmpdir(), 'carrel-demo-'));
  const sessions = join(own, 'sessions');
  if (workspace !== undefined) return { workspace: resolve(workspace), sessions };
  const copy = join(own, 'workspace');
  for (const part of ['docs', 'packages']) {
    await cp(join(REPOSITORY, part), join(copy, part), {
      recursive: true,
      filter: (source) => !NOT_COPIED.has(basename(source)),
    });
  }
  return { workspace: copy, sessions };
}

async function assertDirectory(path: string): Promise<void> {
  let found;
  try {
    found = await stat(path);
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    throw new UsageError(
      code === 'ENOENT' ? `There is no directory ${path}` : `${path} cannot be opened (${code})`,
    );
  }
  if (!found.isDirectory()) throw new UsageError(`${path} is not a directory`);
}
