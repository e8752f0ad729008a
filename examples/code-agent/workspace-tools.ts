import { lstat, mkdir, readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { defineTool, type Tool } from '@carrel/tools-registry';

const SKIPPED = new Set(['node_modules', 'dist', '.git']);
/** A file past this is data, not something that a program reads whole. */
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_MATCHES = 1_000;

const PATH = {
  type: 'string',
  description: 'Path from the workspace, with forward slashes.',
  minLength: 1,
};

/** The tools of the demonstration: list, read, search and write files of one directory. */
export function workspaceTools(workspace: string): readonly Tool[] {
  /** The absolute path of a file of the workspace; links that lead out of it are refused. */
  async function locate(path: string): Promise<string> {
    const absolute = resolve(workspace, path);
    let existing = absolute;
    let real: string | undefined;
    while (real === undefined) {
      try {
        real = await realpath(existing);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw plain(error, path);
        if (await isLink(existing)) {
          throw new Error(`${path} leads to what does not exist`, { cause: error });
        }
        // What is about to be written need not exist; the directory above it decides.
        existing = dirname(existing);
      }
    }
    const root = await realpath(workspace);
    if (real !== root && !real.startsWith(root + sep)) {
      throw new Error(`${path} is outside the workspace`);
    }
    return absolute;
  }

  async function filesBelow(directory: string): Promise<readonly string[]> {
    const start = await locate(directory);
    const found: string[] = [];
    const walk = async (at: string): Promise<void> => {
      for (const entry of await readdir(at, { withFileTypes: true })) {
        const path = join(at, entry.name);
        if (entry.isDirectory() && !SKIPPED.has(entry.name)) await walk(path);
        else if (entry.isFile()) found.push(relative(workspace, path).split(sep).join('/'));
      }
    };
    try {
      await walk(start);
    } catch (error) {
      throw plain(error, directory);
    }
    return found.toSorted();
  }

  async function read(path: string): Promise<string> {
    let bytes;
    try {
      bytes = await readFile(await locate(path));
    } catch (error) {
      throw plain(error, path);
    }
    if (bytes.length > MAX_FILE_BYTES) {
      throw new Error(`${path} is ${bytes.length} bytes; at most ${MAX_FILE_BYTES} are read`);
    }
    if (bytes.includes(0)) throw new Error(`${path} is not text`);
    return bytes.toString('utf8');
  }

  return [
    defineTool<{ directory?: string }>({
      name: 'list_files',
      description: 'Lists every file below a directory of the workspace, in order of path.',
      inputSchema: {
        type: 'object',
        properties: {
          directory: { ...PATH, description: 'Where to begin. Default: the whole workspace.' },
        },
        additionalProperties: false,
      },
      outputSchema: { type: 'array', items: { type: 'string' } },
      parallelSafe: true,
      execute: ({ directory = '.' }) => filesBelow(directory),
    }),
    defineTool<{ path: string }>({
      name: 'read_file',
      description: 'Reads a text file of the workspace.',
      inputSchema: {
        type: 'object',
        properties: { path: PATH },
        required: ['path'],
        additionalProperties: false,
      },
      outputSchema: { type: 'string' },
      parallelSafe: true,
      spill: false,
      execute: ({ path }) => read(path),
    }),
    defineTool<{ text: string; directory?: string }>({
      name: 'search_files',
      description: `Finds lines that contain a text, as it is written. Gives at most ${MAX_MATCHES}.`,
      inputSchema: {
        type: 'object',
        properties: {
          text: { type: 'string', minLength: 1, description: 'What a line has to contain.' },
          directory: { ...PATH, description: 'Where to search. Default: the whole workspace.' },
        },
        required: ['text'],
        additionalProperties: false,
      },
      outputSchema: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            path: { type: 'string' },
            line: { type: 'integer', description: 'From 1.' },
            content: { type: 'string' },
          },
          required: ['path', 'line', 'content'],
          additionalProperties: false,
        },
      },
      parallelSafe: true,
      execute: async ({ text, directory = '.' }, { signal }) => {
        const matches: { path: string; line: number; content: string }[] = [];
        for (const path of await filesBelow(directory)) {
          signal.throwIfAborted();
          const bytes = await readFile(join(workspace, path)).catch((error: unknown) => {
            throw plain(error, path);
          });
          if (bytes.length > MAX_FILE_BYTES || bytes.includes(0)) continue;
          for (const [index, content] of bytes.toString('utf8').split('\n').entries()) {
            if (matches.length === MAX_MATCHES) return matches;
            if (content.includes(text)) matches.push({ path, line: index + 1, content });
          }
        }
        return matches;
      },
    }),
    defineTool<{ path: string; text: string }>({
      name: 'write_file',
      description: 'Writes a text file of the workspace, whole; what was there is replaced.',
      inputSchema: {
        type: 'object',
        properties: { path: PATH, text: { type: 'string', description: 'The whole content.' } },
        required: ['path', 'text'],
        additionalProperties: false,
      },
      outputSchema: {
        type: 'object',
        properties: { bytes: { type: 'integer' } },
        required: ['bytes'],
        additionalProperties: false,
      },
      execute: async ({ path, text }) => {
        try {
          const absolute = await locate(path);
          await mkdir(dirname(absolute), { recursive: true });
          await writeFile(absolute, text);
        } catch (error) {
          throw plain(error, path);
        }
        return { bytes: Buffer.byteLength(text) };
      },
    }),
  ];
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch {
    return false; // There is nothing at all.
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be opened',
  EISDIR: 'is a directory',
  ENOTDIR: 'is not below a directory',
};

/** What the file system said, with the path that the program knows instead of the host's. */
function plain(error: unknown, path: string): Error {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return error instanceof Error ? error : new Error(String(error));
  return new Error(`${path} ${REASONS[code] ?? `cannot be used (${code})`}`, { cause: error });
}
