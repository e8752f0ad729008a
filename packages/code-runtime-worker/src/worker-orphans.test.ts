import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { childrenOf, isRunning } from './testing/processes.ts';

const HOST = `
  import { createWorkerRuntime } from '@carrel/code-runtime-worker';
  const runtime = await createWorkerRuntime({ engine: process.argv[1], limits: { cpuMs: 60_000 } });
  const onEvent = () => process.stdout.write('computing');
  await runtime.run({ program: 'console.log(1); for (;;);', bindings: [], onEvent });
`;

it.each(['isolated-vm', 'quickjs'])(
  'a worker on %s ends when its host is killed, while its program loops',
  async (engine) => {
    const host = spawn(process.execPath, ['--input-type=module', '-e', HOST, engine], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(host.stdout, 'data');
    // `exit` cannot have come yet: the program loops.
    const workers = childrenOf(host.pid!);
    expect(workers).not.toEqual([]);
    host.kill('SIGKILL');
    await once(host, 'exit');
    // The watchdog looks every 10 ms; how soon the machine lets it is the machine's affair.
    for (let look = 0; look < 500 && workers.some(isRunning); look += 1) await pause(10);
    expect(workers.filter(isRunning)).toEqual([]);
  },
);

it('an idle runtime does not keep its host alive', async () => {
  const host = spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `
      import { createWorkerRuntime } from '@carrel/code-runtime-worker';
      const runtime = await createWorkerRuntime();
      await runtime.run({ program: 'return 1', bindings: [] });
    `,
    ],
    { cwd: import.meta.dirname, stdio: ['ignore', 'inherit', 'inherit'] },
  );
  expect(await once(host, 'exit')).toEqual([0, null]);
});
