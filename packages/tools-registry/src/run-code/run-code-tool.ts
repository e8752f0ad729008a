import { messageOf } from '@carrel/code-runtime';
import type {
  CodeRunEvent,
  CodeRunLimits,
  CodeRunResult,
  CodeRuntime,
  JsonValue,
} from '@carrel/code-runtime';
import { CarrelError } from '@carrel/code-runtime';
import type { JsonSchema } from '../schema/json-schema.ts';
import { RUN_CODE, renderDeclarations } from '../presentation/render-sdk.ts';
import type { WireTool } from '../presentation/tool-presentation.ts';
import { defineTool } from '../tool.ts';
import type { Tool, ToolCallContext } from '../tool.ts';
import { amendedResult, errorResult, toolResult } from '../tool-result.ts';
import type { ToolContent, ToolErrorCode, ToolResult } from '../tool-result.ts';
import type { CodeRunDetails } from './code-dispatch.ts';
import { failureReport, failureSentence } from './failure-report.ts';
import { runReport } from './run-report.ts';
import { ToolBindings } from './tool-bindings.ts';
import type { ToolBindingsOptions } from './tool-bindings.ts';

/** `run_code` as a request names it. */
export const RUN_CODE_WIRE_TOOL: WireTool & { readonly inputSchema: JsonSchema } = Object.freeze({
  name: RUN_CODE,
  description:
    'Runs a TypeScript program in a sandbox and answers with what it returns and logs. The program calls the tools that the system prompt declares under `tools`, and is the body of an async function: `const user = await tools.get_user({ id: 1 }); return user.name;`',
  inputSchema: Object.freeze({
    type: 'object',
    properties: {
      code: {
        type: 'string',
        description: 'The program: the body of an async TypeScript function.',
      },
      description: {
        type: 'string',
        description: 'What the program does, in a few words, for people.',
      },
    },
    required: ['code'],
    additionalProperties: false,
  }),
});

/** What one call of `run_code` needs. */
export interface RunCodeOptions {
  readonly runtime: CodeRuntime;
  readonly limits: Partial<CodeRunLimits> | undefined;
  /** Milliseconds that calls in flight may take to settle once the program has ended. */
  readonly abortGraceMs: number;
  /** The tools that the program can call. */
  readonly tools: readonly Tool[];
  /** Takes one call of the program through the pipeline; never rejects. */
  dispatch(
    call: Parameters<ToolBindingsOptions['dispatch']>[0],
    signal: AbortSignal,
    parentCallId: string,
  ): ReturnType<ToolBindingsOptions['dispatch']>;
  readonly onCodeDispatch: ToolBindingsOptions['onCodeDispatch'];
  readonly onRunEvent: ((event: CodeRunEvent) => void) | undefined;
}

/**
 * Makes the tool that runs programs, for one call: an ordinary tool, executed by the pipeline that
 * executes the calls of its programs too. A program that fails makes a failed call.
 */
export function createRunCodeTool(options: RunCodeOptions): Tool {
  return defineTool<{ readonly code: string }>({
    ...RUN_CODE_WIRE_TOOL,
    execute: ({ code }, context) => runProgram(code, context, options),
  });
}

async function runProgram(
  program: string,
  { callId, signal }: ToolCallContext,
  options: RunCodeOptions,
): Promise<ToolResult> {
  const { runtime, limits, tools, onRunEvent } = options;
  const bindings = new ToolBindings({
    tools,
    parentCallId: callId,
    signal,
    dispatch: (call, callSignal) => options.dispatch(call, callSignal, callId),
    onCodeDispatch: options.onCodeDispatch,
  });
  let run: CodeRunResult;
  try {
    run = await runtime.run({
      program,
      bindings: [bindings.namespace],
      declarations: renderDeclarations(tools),
      signal,
      ...(limits ? { limits } : {}),
      ...(onRunEvent ? { onEvent: onRunEvent } : {}),
    });
  } catch (error) {
    return notRun(error);
  } finally {
    await bindings.close(options.abortGraceMs);
  }
  const calls = bindings.recordsOf(run.calls);
  const details: CodeRunDetails = { journal: run.journal, calls };
  const { images, additionalContext } = bindings.deferred;
  // As they are: both are JSON by contract, and may be as large and deep as JSON may be.
  const facts = {
    value: run.value,
    details: details as unknown as JsonValue,
    additionalContext: additionalContext.length > 0 ? additionalContext : undefined,
  };
  const { failure } = run;
  if (failure === undefined) {
    return amendedResult(toolResult({ content: contentWith(runReport(run), images) }), facts);
  }
  const ledger = calls.map((call) => ({ ...call, bodyRan: bindings.bodyRan(call) }));
  const code: ToolErrorCode = failure.kind === 'aborted' ? 'TOOL_ABORTED' : 'CODE_RUN_FAILED';
  const content = contentWith(failureReport(failure, { ...run, calls: ledger }, tools), images);
  const error = { code, message: failureSentence(failure) };
  return amendedResult(toolResult({ content, error }), facts);
}

/** The runtime refused or could not take the program: nothing of it ran. */
function notRun(error: unknown): ToolResult {
  const again =
    CarrelError.isInstance(error) && error.retryable ? ' (the same program may be sent again)' : '';
  const code = CarrelError.isInstance(error) ? error.code : 'CODE_RUN_FAILED';
  return errorResult(code, `The program could not be run: ${messageOf(error)}${again}`);
}

function contentWith(text: string, images: readonly ToolContent[]): readonly ToolContent[] {
  return [{ type: 'text', text }, ...images];
}
