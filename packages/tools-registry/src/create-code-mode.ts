import { randomUUID } from 'node:crypto';
import type { CodeRunEvent, CodeRunLimits, CodeRuntime, JsonValue } from '@carrel/code-runtime';
import { RUN_CODE } from './presentation/render-sdk.ts';
import type { ToolMode, WireTool } from './presentation/tool-presentation.ts';
import type { CodeDispatchEvent } from './run-code/code-dispatch.ts';
import { RUN_CODE_WIRE_TOOL } from './run-code/run-code-tool.ts';
import type { Tool, ToolCall, ToolDefinition } from './tool.ts';
import type { ToolResult } from './tool-result.ts';
import { ToolsRegistry } from './tools-registry.ts';

/** What happens inside `run_code` while it runs. */
export type CodeModeEvent =
  | CodeRunEvent
  /** A call of the program starts or settles. */
  | { readonly type: 'code-dispatch'; readonly dispatch: CodeDispatchEvent };

/** What {@link createCodeMode} takes. */
export interface CodeModeOptions {
  /** The tools that programs can call. */
  readonly tools: readonly (Tool | ToolDefinition)[];
  /** Runs the programs. It stays yours: dispose it when you are done. */
  readonly runtime: CodeRuntime;
  /** `both` keeps the tools callable directly too. Default `code`. */
  readonly mode?: Exclude<ToolMode, 'native'>;
  /** Budgets of a program that differ from the runtime's own. */
  readonly limits?: Partial<CodeRunLimits>;
  /** Told what happens inside a call of `run_code`, never after its result. Must not throw. */
  onEvent?(event: CodeModeEvent): void;
}

/** How a call may be stopped. */
export interface CodeModeCallOptions {
  /** Cancels the call. */
  readonly signal?: AbortSignal;
}

/** Code Mode for an agent loop of your own. */
export interface CodeMode {
  /** The one tool to hand to the model. */
  readonly tool: WireTool & {
    /** Carries out one call, given its arguments as the model sent them. Never rejects. */
    execute(args: JsonValue, options?: CodeModeCallOptions): Promise<ToolResult>;
  };
  /** The section to put into the system prompt; of the tools as they are when it is read. */
  readonly systemPrompt: string;
  /** Carries out any call of the model, for mode `both`. Never rejects. */
  execute(
    call: Omit<ToolCall, 'id'> & { readonly id?: string },
    options?: CodeModeCallOptions,
  ): Promise<ToolResult>;
  /** The registry behind it: more tools, listeners, what to put on the wire. */
  readonly tools: ToolsRegistry;
}

/**
 * Code Mode in one call: a tool and a section of the system prompt, for whoever has a loop already.
 *
 * @throws TypeError for a bad tool, a name given twice, a runtime of another language
 */
export function createCodeMode(options: CodeModeOptions): CodeMode {
  const { tools, runtime, mode = 'code', limits } = options;
  const registry = new ToolsRegistry({ mode, runtime, ...(limits ? { limits } : {}) });
  for (const tool of tools) registry.register(tool);
  // Fails now, not at the first call.
  registry.present();
  const execute: CodeMode['execute'] = ({ id = randomUUID(), ...call }, { signal } = {}) =>
    registry.execute(
      { id, ...call },
      {
        // A call that nobody can cancel still has a signal: tools may count on one.
        signal: signal ?? new AbortController().signal,
        onCodeDispatch: (dispatch) => {
          // A spectator: no call waits for what it answers.
          options.onEvent?.({ type: 'code-dispatch', dispatch });
        },
        onRunEvent: (event) => options.onEvent?.(event),
      },
    );
  return {
    tool: {
      ...RUN_CODE_WIRE_TOOL,
      execute: (args, callOptions) => execute({ name: RUN_CODE, arguments: args }, callOptions),
    },
    get systemPrompt() {
      // A mode with programs always has a section.
      return registry.present().promptSection as string;
    },
    execute,
    tools: registry,
  };
}
