import type { CodeRunEvent } from '@carrel/code-runtime';
import type { ToolsRegistry } from '@carrel/tools-registry';
import type { AgentHooks, SystemPromptSection } from '../agent-contract.ts';
import type { Model } from '../models/model.ts';
import type { SessionPrefix } from '../request/session-prefix.ts';
import type { RequestVerifier } from '../request/verify-request.ts';
import type { TurnEndReason } from '../session/session-events.ts';
import type { SessionLog } from '../session/session-log.ts';

/** The tool set of an agent: what it needs of a {@link ToolsRegistry}. */
export type AgentTools = Pick<ToolsRegistry, 'present' | 'executeBatch'>;

/** What all turns of one agent share. */
export interface LoopParts {
  readonly log: SessionLog;
  readonly verifier: RequestVerifier;
  readonly prefix: SessionPrefix;
  readonly model: Model;
  readonly tools: AgentTools;
  readonly sections: readonly SystemPromptSection[];
  readonly hooks: readonly Partial<AgentHooks>[];
  readonly maxOutputTokens: number | undefined;
  readonly maxStepsPerTurn: number;
  readonly onRunEvent: ((event: CodeRunEvent, callId: string) => void) | undefined;
}

/** What a step leaves to its turn: go on with another step, or end. */
export type StepEnd = 'continue' | TurnEndReason;
