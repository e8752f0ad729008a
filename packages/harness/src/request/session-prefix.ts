import { deepFreeze } from '@carrel/code-runtime';
import { encodeLossless, parseJson } from '@carrel/code-runtime';
import type { AgentHooks } from '../agent-contract.ts';
import type { ModelMessage } from '../models/model.ts';
import { runHook } from '../run-hook.ts';

/**
 * The messages in front of the whole history, of one agent. Composed once, when a step first asks
 * for them, and the same frozen list from then on.
 */
export class SessionPrefix {
  readonly #hooks: readonly Partial<AgentHooks>[];
  #composed: readonly ModelMessage[] | undefined;

  constructor(hooks: readonly Partial<AgentHooks>[]) {
    this.#hooks = hooks;
  }

  /**
   * The prefix; runs the `agent/session-prefix` chain until it was composed once.
   *
   * @returns `undefined` when the signal was aborted meanwhile. What an interrupted chain answers
   * is discarded, since hooks may fall back to less when they are aborted; the next call composes
   * again
   * @throws HarnessError `hook-failed`, also for messages that are none or that JSON cannot say
   */
  async compose(signal: AbortSignal): Promise<readonly ModelMessage[] | undefined> {
    if (this.#composed) return this.#composed;
    const seed: readonly ModelMessage[] = Object.freeze([]);
    this.#composed = await runHook('agent/session-prefix', this.#hooks, seed, signal, snapshot);
    return this.#composed;
  }
}

/** A copy that no hook holds, and that a log can hold without loss. */
function snapshot(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  if (!Array.isArray(messages)) {
    throw new TypeError(`Expected an array of messages, got ${typeof messages}`);
  }
  for (const [index, message] of (messages as readonly unknown[]).entries()) {
    if (isMessage(message)) continue;
    throw new TypeError(`Expected messages[${index}] to be a user, assistant or tool message`);
  }
  return deepFreeze(parseJson(encodeLossless(messages))) as unknown as readonly ModelMessage[];
}

function isMessage(message: unknown): boolean {
  const { role, text, content, callId, toolName } = (message ?? {}) as Partial<
    Record<string, unknown>
  >;
  if (role === 'user') return typeof text === 'string';
  if (role === 'assistant') return Array.isArray(content);
  const named = typeof callId === 'string' && typeof toolName === 'string';
  return role === 'tool' && named && Array.isArray(content);
}
