import { messageOf } from '@carrel/code-runtime/errors';
import { GuestModules } from '../guest-modules.ts';
import type { Engine } from './engine.ts';
import { loadIsolatedVm } from './isolated-vm.ts';
import { loadQuickjs } from './quickjs.ts';

/** An engine of that name, or the best that loads here. */
export type EngineChoice = Engine['name'] | 'default';

/**
 * Loads an engine into this process.
 *
 * @returns the engine, and why it is not the first choice, when it is not
 * @throws whatever the loader throws when a named engine does not load
 */
export async function loadEngine(
  choice: EngineChoice,
): Promise<{ readonly engine: Engine; readonly fallbackReason?: string }> {
  const modules = new GuestModules();
  if (choice === 'quickjs') return { engine: await loadQuickjs(modules) };
  try {
    return { engine: await loadIsolatedVm(modules) };
  } catch (error) {
    if (choice === 'isolated-vm') throw error;
    const reason = messageOf(error).split('\n')[0] ?? '';
    return { engine: await loadQuickjs(modules), fallbackReason: reason };
  }
}
