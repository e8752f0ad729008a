import type { JsonValue } from '@carrel/code-runtime';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonSchema } from './schema/json-schema.ts';
import type { ToolResult } from './tool-result.ts';

/** What a tool body is told about the call it answers. */
export interface ToolCallContext {
  /** The call's id; a sub-call of a program has `<id of run_code>:<number in program order>`. */
  readonly callId: string;
  /** Aborted on cancellation, on the tool's deadline, and when the program that called has ended. */
  readonly signal: AbortSignal;
}

/** What {@link defineTool} takes. */
export interface ToolDefinition<Input = Record<string, JsonValue>> {
  /** The exact name, 1 to 128 characters. Any text; identifiers read best. */
  readonly name: string;
  /** What the tool does and when to use it; the model reads this. */
  readonly description: string;
  /** JSON Schema of the one argument object, or a Standard Schema that converts to one. */
  readonly inputSchema: JsonSchema | StandardSchemaV1<unknown, Input>;
  /** JSON Schema of the value that `execute` answers with. Without it any JSON value passes. */
  readonly outputSchema?: JsonSchema | StandardSchemaV1;
  /**
   * The body. Answers with a JSON value, `undefined` for none, or a {@link ToolResult} made by
   * `toolResult` when it has more to say than a value. A rejection is a failed call: its message
   * reaches the model as it is. It must listen to `context.signal`.
   */
  execute(input: Input, context: ToolCallContext): unknown;
  /** Whether calls of this tool may overlap each other and other such calls. Default `false`. */
  readonly parallelSafe?: boolean;
  /** Deadline in milliseconds, from the start of the body. Default: none. The model never sees it. */
  readonly timeoutMs?: number;
  /** Whether somebody must approve each call: always, or when the function says so. Default `false`. */
  readonly approval?: boolean | ((input: Input) => boolean);
  /** `false` keeps a large result inline, as tools that read spilled text need. Default `true`. */
  readonly spill?: boolean;
}

/** A tool as the registry holds it: schemas are JSON Schema, every option is set. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema | undefined;
  readonly parallelSafe: boolean;
  readonly timeoutMs: number | undefined;
  readonly spill: boolean;
  needsApproval(input: Record<string, JsonValue>): boolean;
  execute(input: Record<string, JsonValue>, context: ToolCallContext): Promise<ToolResult>;
}

/** One call of a tool, as a model or a program asked for it. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonValue;
}
