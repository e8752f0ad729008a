export { createAgent } from './agent.ts';
export type { AgentOptions } from './agent.ts';
export type {
  Agent,
  AgentHooks,
  HookContext,
  HookNext,
  SystemPromptSection,
} from './agent-contract.ts';
export type { AgentTools } from './loop/loop-parts.ts';
export type {
  SessionEvent,
  SessionEventMap,
  SessionEventType,
  TurnEndReason,
} from './session/session-events.ts';
export type { EventLog, EventStore } from './session/event-store.ts';
export { jsonlEventStore } from './session/jsonl-event-store.ts';
export type { JsonlEventStoreOptions } from './session/jsonl-event-store.ts';
export { memoryEventStore } from './session/memory-event-store.ts';
export type { MemoryEventStore } from './session/memory-event-store.ts';
export { deriveHistory } from './session/derive-history.ts';
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
export { aiSdkModel } from './models/ai-sdk-model.ts';
export type { AiSdkModelOptions } from './models/ai-sdk-model.ts';
export { scriptedModel } from './models/scripted-model.ts';
export type { ScriptedModelOptions } from './models/scripted-model.ts';
export type {
  ScriptedAnswer,
  ScriptedPart,
  ScriptedReply,
  ScriptedToolCall,
} from './models/scripted-answer.ts';
export type { CompactService } from './compaction/compact-service.ts';
export type { SpilledText, SpillStore } from './spill/spill-store.ts';
export { HarnessError } from './errors.ts';
export type { HarnessErrorCode } from './errors.ts';
