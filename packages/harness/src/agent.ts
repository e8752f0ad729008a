import { randomUUID } from 'node:crypto';
import type { CodeRunEvent } from '@carrel/code-runtime';
import type { Agent, AgentHooks, SystemPromptSection } from './agent-contract.ts';
import { AgentLoop } from './loop/agent-loop.ts';
import type { AgentTools } from './loop/loop-parts.ts';
import type { Model } from './models/model.ts';
import { SessionPrefix } from './request/session-prefix.ts';
import { assertSections } from './request/system-blocks.ts';
import { RequestVerifier } from './request/verify-request.ts';
import type { EventStore } from './session/event-store.ts';
import type { SessionEvent } from './session/session-events.ts';
import { SessionLog } from './session/session-log.ts';

/** What {@link createAgent} takes. */
export interface AgentOptions {
  readonly model: Model;
  /** The tool set, such as a `ToolsRegistry`. Asked how it is presented before every request. */
  readonly tools: AgentTools;
  /** Where the session log is kept. */
  readonly store: EventStore;
  /** The id of the new session. Default: a random UUID. */
  readonly sessionId?: string;
  /** Sections of the system prompt, in order; the section of the tools stands before them. */
  readonly sections?: readonly SystemPromptSection[];
  /** Listeners of the loop's chains, the outermost first. */
  readonly hooks?: readonly Partial<AgentHooks>[];
  /** Output tokens of one answer at most. Default: the model's own limit. */
  readonly maxOutputTokens?: number;
  /** Requests of one turn at most; the turn ends `error` after them. Default 100. */
  readonly maxStepsPerTurn?: number;
  /** Told of each event right after it was appended. Must not throw. */
  readonly onEvent?: (event: SessionEvent) => void;
  /** Told what a program does while it runs, with the id of its call. Must not throw. */
  readonly onRunEvent?: (event: CodeRunEvent, callId: string) => void;
}

const DEFAULT_MAX_STEPS_PER_TURN = 100;

/**
 * Starts a session and the agent that leads it.
 *
 * @throws TypeError for an option that is none
 * @throws HarnessError `session-exists`, `store-failed`
 */
export async function createAgent(options: AgentOptions): Promise<Agent> {
  const { model, tools, store, sections = [], hooks = [], maxOutputTokens } = options;
  const { maxStepsPerTurn = DEFAULT_MAX_STEPS_PER_TURN, sessionId = randomUUID() } = options;
  if (typeof sessionId !== 'string' || sessionId === '' || !sessionId.isWellFormed()) {
    const got = JSON.stringify(sessionId);
    throw new TypeError(`Expected \`sessionId\` to be well-formed text, got ${got}`);
  }
  assertCount('maxOutputTokens', maxOutputTokens);
  assertCount('maxStepsPerTurn', maxStepsPerTurn);
  assertSections(sections, '`sections`');
  assertHooks(hooks);
  assertMember('model', model, 'id', 'text');
  assertMember('model', model, 'stream', 'a function');
  assertMember('tools', tools, 'present', 'a function');
  assertMember('tools', tools, 'executeBatch', 'a function');
  assertMember('store', store, 'create', 'a function');

  const eventLog = await store.create(sessionId);
  const verifier = new RequestVerifier();
  const log = new SessionLog(eventLog, {
    onText: (text) => verifier.record(text),
    onEvent: options.onEvent,
  });
  log.append('session/start', { sessionId, formatVersion: 1 });
  try {
    await log.flush();
  } catch (error) {
    // The failure that counts is the first one.
    await log.close().catch(() => {});
    throw error;
  }
  const parts = {
    log,
    verifier,
    prefix: new SessionPrefix([...hooks]),
    model,
    tools,
    sections: sections.map((section) => ({ ...section })),
    hooks: [...hooks],
    maxOutputTokens,
    maxStepsPerTurn,
    onRunEvent: options.onRunEvent,
  };
  return new AgentLoop(sessionId, eventLog.location, parts);
}

const HOOK_NAMES: Readonly<Record<keyof AgentHooks, true>> = {
  'system-prompt/assemble': true,
  'agent/session-prefix': true,
};

function assertHooks(hooks: unknown): void {
  if (!Array.isArray(hooks)) {
    throw new TypeError(`Expected \`hooks\` to be an array of hooks, got ${shown(hooks)}`);
  }
  for (const [index, chains] of (hooks as unknown[]).entries()) {
    if (typeof chains !== 'object' || chains === null) {
      throw new TypeError(`Expected \`hooks[${index}]\` to be an object, got ${shown(chains)}`);
    }
    // The known names as well: a method may stand on a prototype.
    for (const name of new Set([...Object.keys(chains), ...Object.keys(HOOK_NAMES)])) {
      const hook = (chains as Partial<Record<string, unknown>>)[name];
      const option = `\`hooks[${index}]['${name}']\``;
      if (!Object.hasOwn(HOOK_NAMES, name)) {
        const names = Object.keys(HOOK_NAMES).join(', ');
        throw new TypeError(`Expected the name of ${option} to be one of ${names}, got ${name}`);
      }
      if (hook === undefined || typeof hook === 'function') continue;
      throw new TypeError(`Expected ${option} to be a function, got ${shown(hook)}`);
    }
  }
}

function assertMember(
  option: string,
  value: unknown,
  member: string,
  expected: 'text' | 'a function',
): void {
  if (typeof value !== 'object' || value === null) {
    throw new TypeError(`Expected \`${option}\` to have \`${member}\`, got ${shown(value)}`);
  }
  const found = (value as Partial<Record<string, unknown>>)[member];
  if (expected === 'text' ? typeof found === 'string' && found !== '' : typeof found === 'function')
    return;
  throw new TypeError(`Expected \`${option}.${member}\` to be ${expected}, got ${shown(found)}`);
}

function shown(value: unknown): string {
  if (value === null) return 'null';
  return typeof value === 'string' ? JSON.stringify(value) : typeof value;
}

function assertCount(option: string, value: unknown): void {
  if (value === undefined || (Number.isSafeInteger(value) && (value as number) >= 1)) return;
  throw new TypeError(
    `Expected \`${option}\` to be a whole number from 1, got ${String(value)} (${typeof value})`,
  );
}
