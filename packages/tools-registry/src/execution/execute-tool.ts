import { deepFreeze, messageOf } from '@carrel/code-runtime';
import type { CodeCallRecord, JsonValue } from '@carrel/code-runtime';
import { encodeArgument, parseJson } from '@carrel/code-runtime/json';
import type { SchemaValidator } from '../schema/validate.ts';
import { invalidArguments } from '../tool.ts';
import type { Tool, ToolCall } from '../tool.ts';
import {
  amendedResult,
  contentText,
  errorResult,
  isToolResult,
  resultOfError,
} from '../tool-result.ts';
import type { ToolResult } from '../tool-result.ts';
import { askApproval } from './approval.ts';
import { runBody } from './deadline.ts';
import { runChain } from './middleware.ts';
import type {
  ApprovalHandler,
  PostExecuteDecision,
  PreExecuteDecision,
  ToolExecution,
  ToolMiddleware,
} from './tool-execution.ts';

/** A tool with what checks its calls. */
export interface ToolEntry {
  readonly tool: Tool;
  readonly input: SchemaValidator;
  readonly output: SchemaValidator | undefined;
}

/** What every call of a registry passes. */
export interface ToolPipeline {
  /** The listeners of one chain, outermost first. */
  listeners<Name extends keyof ToolMiddleware>(name: Name): readonly ToolMiddleware[Name][];
  readonly approve: ApprovalHandler | undefined;
  /** Milliseconds that a body which was told to stop may take to settle. */
  readonly abortGraceMs: number;
}

/** What came of a call, and what is known of its body. */
export interface ToolOutcome {
  readonly result: ToolResult;
  readonly outcome: CodeCallRecord['outcome'];
  /** Whether the body was called at all. Where it was, a failed call too may have taken effect. */
  readonly bodyRan: boolean;
}

/**
 * Takes one call through its three chains: may it run, run it, look at the result. Never rejects:
 * whatever goes wrong, in a body or in a listener, is a failed call.
 */
export async function executeTool(
  entry: ToolEntry,
  call: ToolCall,
  options: { readonly signal: AbortSignal; readonly parentCallId: string | undefined },
  pipeline: ToolPipeline,
): Promise<ToolOutcome> {
  const { tool } = entry;
  let text: string;
  try {
    text = encodeArgument(call.arguments) ?? '{}';
  } catch (error) {
    const result = errorResult(
      'INVALID_ARGUMENTS',
      invalidArguments(tool.name, [messageOf(error)]),
    );
    return { result, outcome: 'failed', bodyRan: false };
  }
  const execution: ToolExecution = {
    // A copy that nobody can change: the caller has logged the arguments already.
    call: { ...call, arguments: deepFreeze(parseJson(text)) },
    tool,
    parentCallId: options.parentCallId,
    signal: options.signal,
  };
  const step = new ExecutionStep(entry, execution, text, pipeline);
  const result = await step.run();
  const outcome = step.bodyOutcome ?? (result.isError ? 'failed' : 'done');
  return { result, outcome, bodyRan: step.bodyRan };
}

class ExecutionStep {
  readonly #entry: ToolEntry;
  readonly #execution: ToolExecution;
  /** The arguments as JSON, from which the body gets a copy of its own. */
  readonly #text: string;
  readonly #pipeline: ToolPipeline;
  #problems: readonly string[] | undefined;
  bodyRan = false;
  /** What the result alone does not tell: that the body did not start, or how it was stopped. */
  bodyOutcome: 'not-started' | 'aborted' | 'outcome-unknown' | undefined;

  constructor(entry: ToolEntry, execution: ToolExecution, text: string, pipeline: ToolPipeline) {
    this.#entry = entry;
    this.#execution = execution;
    this.#text = text;
    this.#pipeline = pipeline;
  }

  async run(): Promise<ToolResult> {
    const { signal } = this.#execution;
    let result: ToolResult;
    try {
      result = (await this.#refusal()) ?? (await this.#dispatchThroughChain());
    } catch (error) {
      result = resultOfError(error);
    }
    this.#execution.signal = signal;
    try {
      return await this.#review(result);
    } catch (error) {
      return amendedResult(resultOfError(error), { details: result.details });
    }
  }

  /** The failed call that stands for a call that may not run; `undefined` when it may. */
  async #refusal(): Promise<ToolResult | undefined> {
    const answer: PreExecuteDecision = await runChain(
      this.#pipeline.listeners('tools/pre-execute'),
      this.#execution,
      () => Promise.resolve(this.#ownDecision()),
    );
    switch (answer?.decision) {
      case 'allow':
        return undefined;
      case 'deny':
        return errorResult('TOOL_DENIED', `The call was denied: ${answer.reason}`);
      case 'ask':
        return askApproval(this.#pipeline.approve, this.#execution, answer.reason);
      default:
        throw new TypeError(
          'Expected a `tools/pre-execute` listener to answer with allow, deny or ask',
        );
    }
  }

  #ownDecision(): PreExecuteDecision {
    const { tool } = this.#entry;
    // Nobody is asked about a call that cannot run anyhow.
    const asks = this.#argumentProblems().length === 0 && tool.needsApproval(this.#input());
    return asks
      ? { decision: 'ask', reason: `calls of ${tool.name} need approval` }
      : { decision: 'allow' };
  }

  async #dispatchThroughChain(): Promise<ToolResult> {
    const result = await runChain(this.#pipeline.listeners('tools/execute'), this.#execution, () =>
      this.#dispatch(),
    );
    if (!isToolResult(result)) {
      throw new TypeError('Expected a `tools/execute` listener to answer with a tool result');
    }
    return result;
  }

  async #dispatch(): Promise<ToolResult> {
    const { tool } = this.#entry;
    const { call, signal } = this.#execution;
    const problems = this.#argumentProblems();
    if (problems.length > 0) {
      return errorResult('INVALID_ARGUMENTS', invalidArguments(tool.name, problems));
    }
    if (signal.aborted) {
      this.bodyOutcome = 'not-started';
      return errorResult('TOOL_ABORTED', 'The call was cancelled before it started.');
    }
    const { timeoutMs } = tool;
    const { abortGraceMs } = this.#pipeline;
    this.bodyRan = true;
    const end = await runBody(
      (bodySignal) => tool.execute(this.#input(), { callId: call.id, signal: bodySignal }),
      { signal, timeoutMs, abortGraceMs },
    );
    if (end.state === 'unsettled') this.bodyOutcome = 'outcome-unknown';
    else if (end.stoppedBy !== undefined) this.bodyOutcome = 'aborted';
    const unknown =
      end.state === 'unsettled'
        ? ` It did not stop within ${abortGraceMs} ms, so whether it took effect is unknown.`
        : '';
    if (end.stoppedBy === 'deadline') {
      const message = `\`${tool.name}\` did not answer within ${timeoutMs} ms and was stopped.${unknown}`;
      return errorResult('TOOL_TIMEOUT', message);
    }
    if (end.state === 'unsettled') {
      return errorResult('TOOL_ABORTED', `The call was cancelled.${unknown}`);
    }
    const result = end.state === 'fulfilled' ? end.value : resultOfError(end.error);
    if (end.stoppedBy === 'signal' && result.error) {
      return amendedResult(result, { error: { ...result.error, code: 'TOOL_ABORTED' } });
    }
    return this.#checkedOutput(result);
  }

  #checkedOutput(result: ToolResult): ToolResult {
    const { tool, output } = this.#entry;
    if (result.isError || output === undefined) return result;
    // A body that answers with nothing fits where null would.
    const problems = output.validate(result.value ?? null);
    if (problems.length === 0) return result;
    const lines = problems.map((problem) => `- ${problem}`).join('\n');
    return errorResult(
      'INVALID_OUTPUT',
      `\`${tool.name}\` ran, but its result does not fit its output schema:\n${lines}`,
    );
  }

  async #review(result: ToolResult): Promise<ToolResult> {
    const listeners = this.#pipeline.listeners('tools/post-execute');
    if (listeners.length === 0) return result;
    const context = { ...this.#execution, result: deepFreeze(result) };
    const answer: PostExecuteDecision = await runChain(listeners, context, () =>
      Promise.resolve({ decision: 'accept' }),
    );
    switch (answer?.decision) {
      case 'accept':
        return accepted(result, answer);
      case 'block':
        return blocked(result, answer.feedback);
      default:
        throw new TypeError(
          'Expected a `tools/post-execute` listener to answer with accept or block',
        );
    }
  }

  #argumentProblems(): readonly string[] {
    return (this.#problems ??= this.#checkArguments());
  }

  #checkArguments(): readonly string[] {
    const value = this.#execution.call.arguments;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return ['$: expected one object with named fields'];
    }
    return this.#entry.input.validate(value);
  }

  #input(): Record<string, JsonValue> {
    return parseJson(this.#text) as Record<string, JsonValue>;
  }
}

function accepted(
  result: ToolResult,
  { content, additionalContext = [] }: Extract<PostExecuteDecision, { decision: 'accept' }>,
): ToolResult {
  const context = [...(result.additionalContext ?? []), ...additionalContext];
  const withContext = context.length > 0 ? { additionalContext: context } : {};
  if (content === undefined) return amendedResult(result, withContext);
  // What a listener took away from the model must not reach a program either.
  const text = contentText(content);
  return amendedResult(result, {
    ...withContext,
    content: [...content],
    value: result.isError ? undefined : text,
    error: result.error && { code: result.error.code, message: text ?? result.error.code },
  });
}

function blocked(result: ToolResult, feedback: string): ToolResult {
  const code = result.error?.code ?? 'TOOL_FAILED';
  const { details } = result;
  return amendedResult(errorResult(code, feedback), { details });
}
