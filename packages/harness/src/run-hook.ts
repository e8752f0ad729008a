import { messageOf } from '@carrel/code-runtime';
import { runChain } from '@carrel/tools-registry';
import type { Listener } from '@carrel/tools-registry';
import type { AgentHooks, HookContext, HookNext } from './agent-contract.ts';
import { HarnessError } from './errors.ts';
import { untilAborted } from './until-aborted.ts';

type Hook<Value> = (next: HookNext<Value>, context: HookContext) => Promise<Value>;
type HookValue<Name extends keyof AgentHooks> = Awaited<ReturnType<AgentHooks[Name]>>;

/**
 * Runs one chain of hooks, the first that was handed in being the outermost.
 *
 * @param seed - what the innermost `next()` answers with
 * @param check - looks at what the chain answered with, and makes of it what is used; may throw
 * @returns `undefined` when the signal was aborted before the chain had answered: whatever it still
 * answers is nobody's
 * @throws HarnessError `hook-failed`
 */
export async function runHook<Name extends keyof AgentHooks>(
  name: Name,
  hooks: readonly Partial<AgentHooks>[],
  seed: HookValue<Name>,
  signal: AbortSignal,
  check: (answer: HookValue<Name>) => HookValue<Name>,
): Promise<HookValue<Name> | undefined> {
  const listeners = hooks.flatMap((chains): Listener<HookContext, HookValue<Name>>[] => {
    const hook = chains[name] as Hook<HookValue<Name>> | undefined;
    return hook === undefined ? [] : [(context, next) => hook(next, context)];
  });
  const context: HookContext = Object.freeze({ signal });
  try {
    const chain = runChain(listeners, context, () => Promise.resolve(seed));
    const end = await untilAborted(chain, signal);
    return end.aborted ? undefined : check(end.value);
  } catch (cause) {
    const message = `A \`${name}\` hook failed: ${messageOf(cause)}`;
    throw new HarnessError(message, { code: 'hook-failed', details: { hook: name }, cause });
  }
}
