import type { AgentHooks, SystemPromptSection } from '../agent-contract.ts';
import { runHook } from '../run-hook.ts';
import { assertSections } from './system-blocks.ts';

/**
 * Runs the `system-prompt/assemble` chain. Innermost are the section of the tools, if there is one,
 * and the configured ones.
 *
 * @param toolsText - the section that declares the tools, if they have one
 * @returns `undefined` when the signal was aborted before the chain had answered
 * @throws HarnessError `hook-failed`
 */
export async function assembleSections(
  hooks: readonly Partial<AgentHooks>[],
  configured: readonly SystemPromptSection[],
  toolsText: string | undefined,
  signal: AbortSignal,
): Promise<readonly SystemPromptSection[] | undefined> {
  const own: readonly SystemPromptSection[] =
    toolsText === undefined ? [] : [{ name: 'tools', block: 'stable', text: toolsText }];
  const innermost = Object.freeze([...own, ...configured]);
  return runHook('system-prompt/assemble', hooks, innermost, signal, (sections) => {
    assertSections(sections, 'the answer of `system-prompt/assemble`');
    return sections;
  });
}
