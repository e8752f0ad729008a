import type { ModelMessage } from './models/model.ts';
import type { SessionEvent, TurnEndReason } from './session/session-events.ts';

/** A conversation that works through its inbox, one turn after the other. */
export interface Agent {
  readonly sessionId: string;
  /** Where the session log is, for people. */
  readonly logLocation: string;
  /** Everything that happened so far. */
  readonly events: readonly SessionEvent[];
  /**
   * Queues a message from the user and wakes the agent.
   *
   * @param options - `messageId` makes a repeated send the same message; a fresh one when omitted
   * @returns how the turn that takes it up ends
   */
  send(text: string, options?: { readonly messageId?: string }): Promise<TurnEndReason>;
  /** Cancels the turn that is running; does nothing when idle. */
  cancel(cause?: string): void;
  /** Resolves when nothing runs and nothing is queued. */
  whenIdle(): Promise<void>;
  /** Cancels, waits until idle, and closes the log. Idempotent. */
  dispose(): Promise<void>;
}

/** Continues with the next listener, or the innermost step. Takes no argument; called at most once. */
export type HookNext<Result> = () => Promise<Result>;

/** What a hook is told besides. */
export interface HookContext {
  /** Aborted when the turn is cancelled; what the hook answers after that is discarded. */
  readonly signal: AbortSignal;
}

/** A section of the system prompt. */
export interface SystemPromptSection {
  readonly name: string;
  /** Which block it stands in: `stable` for the whole session, or `session` for this epoch. */
  readonly block: 'stable' | 'session';
  readonly text: string;
}

/** The chains that a loop passes, by name; `docs/hooks.md` says what each may change. */
export interface AgentHooks {
  /** Sections of the system prompt, in order of the wire. */
  'system-prompt/assemble': (
    next: HookNext<readonly SystemPromptSection[]>,
    context: HookContext,
  ) => Promise<readonly SystemPromptSection[]>;
  /** Messages in front of the whole history; composed once for each loop. The canonical contribution is `[mine, ...await next()]`. */
  'agent/session-prefix': (
    next: HookNext<readonly ModelMessage[]>,
    context: HookContext,
  ) => Promise<readonly ModelMessage[]>;
}
