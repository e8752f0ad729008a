import { expect, it } from 'vitest';
import type { EngineChoice, loadEngine } from './load-engine.ts';
import type { Guest } from './engine.ts';

/** The built engine, without the parser before it: what a program could do that got past that. */
async function guestOf(choice: EngineChoice): Promise<Guest> {
  const built = new URL('../../dist/engines/load-engine.js', import.meta.url).href;
  const engines = (await import(built)) as { loadEngine: typeof loadEngine };
  const { engine } = await engines.loadEngine(choice);
  return engine.createGuest({ memoryBytes: 64 * 1024 * 1024, notice: () => {} });
}

const SPECIFIERS = [
  './guest.js',
  'carrel:guest.js',
  'carrel:compile.js',
  '@carrel/code-runtime/json',
  'node:fs',
  '../../package.json',
  import.meta.url,
  'data:text/javascript,export default 1',
];

// isolated-vm is left out: it must not be loaded into this process, and has no loader for a program.
it.each(SPECIFIERS)('quickjs itself loads no module for `import(%j)`', async (specifier) => {
  const guest = await guestOf('quickjs');
  const options = {
    javascript: `return Object.keys(await import(${JSON.stringify(specifier)}))`,
    seed: '',
    startTimeMs: 0,
    namespaces: [],
    maxCalls: 1,
    maxPendingCalls: 1,
    maxArgumentBytes: 100,
    maxOutputBytes: 10_000,
  };
  const end = guest.start(JSON.stringify(options), 1_000);
  const { outcome } = JSON.parse('reportText' in end ? end.reportText : '{}') as {
    outcome?: { failure?: { kind: string; message: string } };
  };
  expect(outcome?.failure?.kind).toBe('exception');
  expect(outcome?.failure?.message).toContain('Modules are not available in a program');
});
