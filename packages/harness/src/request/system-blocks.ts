import type { SystemPromptSection } from '../agent-contract.ts';

/** What stands between two sections of a block. */
const SEPARATOR = '\n\n';

/**
 * The system blocks of a request: the stable one, then the session-varying one. Sections keep their
 * order inside their block. A section without text is left out, and so is a block without sections.
 */
export function systemBlocks(sections: readonly SystemPromptSection[]): readonly string[] {
  return (['stable', 'session'] as const)
    .map((block) => sections.filter((section) => section.block === block))
    .map((ofBlock) => ofBlock.map(({ text }) => text).filter((text) => text !== ''))
    .filter((texts) => texts.length > 0)
    .map((texts) => texts.join(SEPARATOR));
}

/**
 * @param source - where the sections come from, for the error
 * @throws TypeError when `sections` is not a list of sections
 */
export function assertSections(sections: unknown, source: string): void {
  if (!Array.isArray(sections)) {
    throw new TypeError(`Expected ${source} to be an array of sections, got ${typeof sections}`);
  }
  for (const [index, section] of (sections as unknown[]).entries()) {
    const { name, block, text } = (section ?? {}) as Partial<Record<string, unknown>>;
    const known = block === 'stable' || block === 'session';
    if (typeof name === 'string' && known && typeof text === 'string') continue;
    throw new TypeError(
      `Expected ${source}[${index}] to be { name, block: 'stable' or 'session', text }, got ${JSON.stringify(section)}`,
    );
  }
}
