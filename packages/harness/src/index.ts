export type { Agent, AgentHooks, HookNext, SystemPromptSection } from './agent-contract.ts';
export type {
  SessionEvent,
  SessionEventMap,
  SessionEventType,
  TurnEndReason,
} from './session/session-events.ts';
export type { EventLog, EventStore } from './session/event-store.ts';
export type { EpochHeader, RequestHeaderReason } from './request/request-header.ts';
export type {
  AssistantPart,
  Model,
  ModelError,
  ModelFinishReason,
  ModelMessage,
  ModelRequest,
  ModelStreamPart,
  ModelUsage,
} from './models/model.ts';
export type { CompactService } from './compaction/compact-service.ts';
export type { SpilledText, SpillStore } from './spill/spill-store.ts';
