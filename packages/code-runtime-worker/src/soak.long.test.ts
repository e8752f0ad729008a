import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import type { CodeBindingNamespace } from '@carrel/code-runtime';
import { createWorkerRuntime } from '@carrel/code-runtime-worker';
import { expect, it } from 'vitest';
import { childrenOf } from './testing/processes.ts';

const MIB = 1024 * 1024;

/** Each of the programs below equally often. */
const RUNS = 504;

/** Half of them end well. */
const PROGRAMS = [
  'return await Promise.all(Array.from({ length: 20 }, (_, i) => tools.echo({ i })));',
  'throw new Error("expected")',
  'await new Promise((resolve) => setTimeout(resolve, 1)); return 1',
  'void tools.echo(1); return 2',
  'await tools.fail("expected")',
  'const =',
  'await new Promise(() => {})',
  'console.log("x".repeat(10_000)); return new Map([["a", 1]])',
];

const bindings: readonly CodeBindingNamespace[] = [
  {
    global: 'tools',
    functions: {
      echo: async ([value]) => value,
      fail: async ([message]) => {
        throw new Error(String(message));
      },
    },
  },
];

function directories(): readonly string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith('carrel-worker-'));
}

it.each(['isolated-vm', 'quickjs'] as const)(
  'hundreds of runs on %s leave no process, no directory, no handle, and no growing memory',
  async (engine) => {
    const before = { children: childrenOf(process.pid), directories: directories() };
    const runtime = await createWorkerRuntime({ engine, pool: { size: 2 } });
    const kinds: (string | undefined)[] = [];
    const run = async (index: number): Promise<void> => {
      const program = PROGRAMS[index % PROGRAMS.length] as string;
      const { failure } = await runtime.run({ program, bindings });
      kinds.push(failure?.kind);
    };
    for (let index = 0; index < 100; index += 1) await run(index);
    const warm = process.memoryUsage.rss();
    for (let index = 100; index < RUNS; index += 4) {
      await Promise.all([0, 1, 2, 3].map((offset) => run(index + offset)));
    }
    expect(process.memoryUsage.rss() - warm).toBeLessThan(100 * MIB);
    expect(kinds.filter((kind) => kind === undefined)).toHaveLength(RUNS / 2);
    expect(new Set(kinds)).toEqual(new Set([undefined, 'exception', 'syntax', 'deadlock']));
    expect(childrenOf(process.pid).length - before.children.length).toBeLessThanOrEqual(2);
    await runtime.dispose();
    expect(childrenOf(process.pid)).toEqual(before.children);
    expect(directories()).toEqual(before.directories);
    // The handle of a process that is gone is closed at the end of a turn, after its immediates.
    await setImmediate();
    await setImmediate();
    expect(process.getActiveResourcesInfo().filter((name) => name === 'ProcessWrap')).toEqual([]);
  },
);
