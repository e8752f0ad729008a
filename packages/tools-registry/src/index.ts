export type { Tool, ToolCall, ToolCallContext, ToolDefinition } from './tool.ts';
export type { ToolContent, ToolErrorCode, ToolResult } from './tool-result.ts';
export type { JsonSchema } from './schema/json-schema.ts';
export type { ToolMode, ToolPresentation, WireTool } from './presentation/tool-presentation.ts';
export type {
  ApprovalHandler,
  Next,
  PostExecuteDecision,
  PreExecuteDecision,
  ToolExecution,
  ToolMiddleware,
} from './execution/tool-execution.ts';
export type { CodeDispatchEvent, CodeRunDetails } from './run-code/code-dispatch.ts';
