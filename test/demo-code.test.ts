import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const MAIN = join(import.meta.dirname, '../examples/dist/code-agent/main.js');
const FIXTURE = join(import.meta.dirname, 'fixtures/workspace');
const KEYS = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'DEEPSEEK_API_KEY'];

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built example as its user would; `env` adds to an environment without provider keys. */
async function demo(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !KEYS.includes(name)),
  );
  const child = spawn(process.execPath, [MAIN, ...args], {
    // Colours are for terminals, also where the environment says that there are colours.
    env: { ...clean, TMPDIR: scratch, CI: 'true', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'carrel-demo-test-'));
});
afterAll(() => rm(scratch, { recursive: true }));

async function fixture(): Promise<string> {
  const workspace = await mkdtemp(join(scratch, 'workspace-'));
  await cp(FIXTURE, workspace, { recursive: true });
  return workspace;
}

const REPORT = `# Exported names without a doc comment

## alpha

2 of 4 exported names lack a doc comment.

- \`Second\` (alpha/src/a.ts:4)
- \`third\` (alpha/src/a.ts:5)

## beta

2 of 2 exported names lack a doc comment.

- \`Fifth\` (beta/b.ts:1)
- \`sixth\` (beta/b.ts:5)
`;

describe('demo:code without a key', () => {
  it('answers rightly for another workspace, writes the report there, and leaves the whole log', async () => {
    const workspace = await fixture();
    const { code, stdout, stderr } = await demo(['--workspace', workspace, '--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(await readFile(join(workspace, 'doc-comment-report.md'), 'utf8')).toBe(REPORT);

    const document = JSON.parse(stdout) as {
      answer: string;
      scripted: boolean;
      programs: string[];
      calls: { toolName: string; outcome: string }[];
      receipt: { toolCalls: number; code: Cost; native: Cost };
      sessionLog: string;
    };
    interface Cost {
      requests: number;
      sentTokens: number;
      repeatedTokens: number;
    }
    expect(document.scripted).toBe(true);
    expect(document.answer).toContain('4 of 6 exported names in 2 sources lack a doc comment');
    expect(document.answer).toContain('Each entry was looked up');
    expect(document.programs).toHaveLength(2);
    expect(document.calls.map(({ toolName }) => toolName)).toEqual([
      'list_files',
      'read_file',
      'read_file',
      'write_file',
      // The second program reads the report back, and each source that it names.
      'read_file',
      'read_file',
      'read_file',
    ]);
    const { receipt } = document;
    expect(receipt.toolCalls).toBe(7);
    expect(receipt.code.requests).toBe(3);
    expect(receipt.native.requests).toBe(8);

    const lines = (await readFile(document.sessionLog, 'utf8')).trimEnd().split('\n');
    const types = lines.map((line) => (JSON.parse(line) as { event: { type: string } }).event.type);
    expect(types[0]).toBe('session/start');
    expect(types.at(-1)).toBe('turn/end');
    expect(types.filter((type) => type === 'request/header')).toHaveLength(1);
    expect(types.filter((type) => type === 'tool/code-dispatch')).toHaveLength(14);
    for (const type of ['user/message', 'assistant/message', 'tool/call', 'tool/result']) {
      expect(types).toContain(type);
    }
  });

  it('works on a copy of this repository by default, with dozens of calls, and says all on the way', async () => {
    const { code, stdout, stderr } = await demo([]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^A scripted model answers.*ANTHROPIC_API_KEY/);
    expect(stdout).toContain('The model wrote a program');
    expect(stdout).toMatch(/list_files \{\} [\d.]+ ms/);
    const calls = Number(/^(\d+) tool calls in 3 model requests$/m.exec(stdout)?.[1]);
    expect(calls).toBeGreaterThan(50);
    expect(stdout).toMatch(/^native sends [\d.]+ times the tokens$/m);
    expect(stdout).not.toContain('\u001B');
    const log = /^Session log: (.*)$/.exec(lines.at(-1) ?? '')?.[1] ?? '';
    const events = (await readFile(log, 'utf8')).trimEnd().split('\n');
    expect(events.length).toBeGreaterThan(2 * calls);
    const workspace = /^Workspace: (.*)$/m.exec(stdout)?.[1] ?? '';
    const report = await readFile(join(workspace, 'doc-comment-report.md'), 'utf8');
    for (const name of ['code-runtime', 'code-runtime-worker', 'tools-registry', 'harness']) {
      expect(report).toContain(`## packages/${name}\n`);
    }
  });

  it('does not touch the files that it reads', async () => {
    const workspace = await fixture();
    const digest = async (): Promise<string> =>
      createHash('sha256')
        .update(await readFile(join(workspace, 'alpha/src/a.ts')))
        .digest('hex');
    const before = await digest();
    await demo(['--workspace', workspace, '--json']);
    expect(await digest()).toBe(before);
  });
});

describe('demo:code with bad input', () => {
  it.each([
    [['--nonsense'], /^Unknown option '--nonsense' \(--help lists the options\)\n$/],
    [['surplus'], /^Unexpected argument 'surplus'.*\n$/],
    [['--workspace'], /^Option '--workspace <value>' argument missing.*\n$/],
    [['--workspace', 'no-such-directory'], /^There is no directory no-such-directory\n$/],
    [['--workspace', MAIN], /is not a directory\n$/],
    [['--task', 'Sing.'], /^--task and --model need a real model.*\n$/],
  ])('%j is one clear line and exit 2', async (args, line) => {
    const { code, stdout, stderr } = await demo(args);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(line);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  it('does not write through a link that leads out of the workspace', async () => {
    const workspace = await fixture();
    const outside = join(scratch, 'outside.md');
    await symlink(outside, join(workspace, 'doc-comment-report.md'));
    const { code, stderr } = await demo(['--workspace', workspace, '--json']);
    expect(code).toBe(1);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(existsSync(outside)).toBe(false);
  });

  it('output that nobody reads any more ends it without a stack', async () => {
    const child = spawn(process.execPath, [MAIN], {
      env: { PATH: process.env['PATH'], TMPDIR: scratch },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.once('data', () => child.stdout.destroy());
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  });

  it('a file that cannot be used is one clear line and exit 1', async () => {
    const workspace = await fixture();
    await writeFile(join(workspace, 'beta/c.ts'), Buffer.from([0x65, 0x00, 0x66]));
    const { code, stderr } = await demo(['--workspace', workspace, '--json']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/beta\/c\.ts is not text/);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).not.toMatch(/\bat .*:\d+:\d+/);
  });

  it.each([
    [
      'ANTHROPIC_API_KEY',
      'ANTHROPIC_BASE_URL',
      { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } },
    ],
    [
      'OPENAI_API_KEY',
      'OPENAI_BASE_URL',
      {
        error: {
          message: 'Incorrect API key provided',
          type: 'invalid_request_error',
          param: null,
          code: 'invalid_api_key',
        },
      },
    ],
  ])('a %s that the provider refuses is one clear line and exit 1', async (key, url, body) => {
    const requests: string[] = [];
    const server = createServer((request, response) => {
      requests.push(request.url ?? '');
      response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const workspace = await fixture();
    const { code, stderr } = await demo(['--workspace', workspace, '--json'], {
      [key]: 'wrong',
      [url]: `http://127.0.0.1:${port}`,
    });
    server.close();
    expect(requests).toHaveLength(1);
    expect(code).toBe(1);
    expect(stderr).toContain(body.error.message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).not.toMatch(/\bat .*:\d+:\d+/);
  });
});
