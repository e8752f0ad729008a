export { createCodeMode } from './create-code-mode.ts';
export type {
  CodeMode,
  CodeModeCallOptions,
  CodeModeEvent,
  CodeModeOptions,
} from './create-code-mode.ts';
export { defineTool } from './tool.ts';
export type { Tool, ToolCall, ToolCallContext, ToolDefinition } from './tool.ts';
export { ToolsRegistry } from './tools-registry.ts';
export type {
  BatchOptions,
  ExecuteOptions,
  ToolDiagnostic,
  ToolsRegistryOptions,
} from './tools-registry.ts';
export type { JsonSchema } from './schema/json-schema.ts';
export type { SchemaDiagnostic } from './schema/schema-diagnostic.ts';
export { schemaToType } from './presentation/schema-to-type.ts';
export type { SchemaType } from './presentation/schema-to-type.ts';
export {
  renderDeclarations,
  renderSdk,
  RUN_CODE,
  toolSignature,
} from './presentation/render-sdk.ts';
export type { ToolMode, ToolPresentation, WireTool } from './presentation/tool-presentation.ts';
export { runChain } from './execution/middleware.ts';
export type { Listener } from './execution/middleware.ts';
export { CallNotStartedError, DispatchQueue } from './execution/dispatch-queue.ts';
export type { DispatchOptions, DispatchQueueOptions } from './execution/dispatch-queue.ts';
export type {
  ApprovalHandler,
  Next,
  PostExecuteDecision,
  PreExecuteDecision,
  ToolExecution,
  ToolMiddleware,
} from './execution/tool-execution.ts';
export type { CodeDispatchEvent, CodeRunDetails } from './run-code/code-dispatch.ts';
export { isToolResult, toolResult } from './tool-result.ts';
export type { ToolContent, ToolErrorCode, ToolResult, ToolResultOptions } from './tool-result.ts';
