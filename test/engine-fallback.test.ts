import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const HOST = `
  import { createWorkerRuntime } from '@carrel/code-runtime-worker';
  const runtime = await createWorkerRuntime(JSON.parse(process.argv[1]));
  const { value } = await runtime.run({ program: 'return [1, 2].map((x) => x * 2)', bindings: [] });
  console.log(runtime.engine, JSON.stringify(value));
  await runtime.dispose();
`;

let project: string;

/** A project that has the built packages and everything they need, but not isolated-vm. */
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'carrel-fallback-'));
  const modules = join(project, 'node_modules');
  await mkdir(modules);
  for (const name of ['code-runtime', 'code-runtime-worker']) {
    const source = join(ROOT, 'packages', name);
    const target = join(modules, '@carrel', name);
    await cp(join(source, 'package.json'), join(target, 'package.json'));
    await cp(join(source, 'dist'), join(target, 'dist'), { recursive: true });
  }
  for (const name of ['@jitl', 'quickjs-emscripten-core', 'typescript', 'ts-blank-space']) {
    await symlink(join(ROOT, 'node_modules', name), join(modules, name));
  }
});
afterAll(() => rm(project, { recursive: true }));

function host(options: object): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const args = ['--input-type=module', '-e', HOST, JSON.stringify(options)];
  return promisify(execFile)(process.execPath, args, { cwd: project });
}

it('where isolated-vm does not load quickjs serves, and that is said once', async () => {
  const { stdout, stderr } = await host({});
  expect(stdout).toBe('quickjs [2,4]\n');
  expect(stderr.match(/CARREL_ENGINE_FALLBACK/g)).toHaveLength(1);
});

it('an engine asked for by name that does not load is an error', async () => {
  await expect(host({ engine: 'isolated-vm' })).rejects.toThrow(/engine-unavailable/);
});
