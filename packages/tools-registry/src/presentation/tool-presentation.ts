import type { JsonSchema } from '../schema/json-schema.ts';

/** How tools reach the model: as native tools, as an SDK for programs, or as both. */
export type ToolMode = 'native' | 'code' | 'both';

/** A tool as a provider's request names it. */
export interface WireTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

/** Everything about a tool set that a model is shown. Deterministic to the byte. */
export interface ToolPresentation {
  readonly mode: ToolMode;
  /** The tools of the request, sorted by name; in `code` mode exactly `run_code`. */
  readonly wireTools: readonly WireTool[];
  /** The section of the system prompt that declares the SDK; absent in `native` mode. */
  readonly promptSection?: string;
}
