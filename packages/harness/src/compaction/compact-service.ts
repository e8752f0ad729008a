import type { Agent } from '../agent-contract.ts';
import type { ModelMessage } from '../models/model.ts';

/** Makes a history shorter before it no longer fits. */
export interface CompactService {
  /**
   * Compacts when the coming request would press against the context window. Failure of any kind
   * leaves the history as it was.
   *
   * @param systemPrompt - both system blocks of the coming request
   * @param sessionPrefix - the prefix of the coming request, so that it counts
   * @returns whether the history was replaced
   */
  compactIfNeeded(
    agent: Agent,
    systemPrompt: readonly string[],
    sessionPrefix: readonly ModelMessage[],
    signal: AbortSignal,
  ): Promise<boolean>;
}
