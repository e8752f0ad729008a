import { messageOf } from '@carrel/code-runtime';
import type { JsonValue } from '@carrel/code-runtime';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonSchema } from './schema/json-schema.ts';
import { isStandardSchema, toJsonSchema } from './schema/to-json-schema.ts';
import { errorResult, resultOfError, resultOfValue } from './tool-result.ts';
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
  /**
   * Whether somebody must approve each call: always, or when the function says so. The function
   * sees arguments that fit the JSON Schema, before a Standard Schema parses them. Default `false`.
   */
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

/** Characters that a name may have at most; no provider takes more, and errors quote names. */
const MAX_NAME_LENGTH = 128;
/** The longest delay a timer takes: `setTimeout` fires at once above it. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Makes a tool of a definition.
 *
 * Arguments are checked against the JSON Schema before `execute` is called; a Standard Schema then
 * parses them too, so that `execute` receives its output type (defaults applied, values transformed).
 *
 * @throws TypeError naming the option, what was expected and what was given
 */
export function defineTool<Input = Record<string, JsonValue>>(
  definition: ToolDefinition<Input>,
): Tool {
  assertDefinition(definition);
  const { inputSchema, outputSchema, approval = false } = definition;
  return Object.freeze({
    name: definition.name,
    description: definition.description,
    inputSchema: toJsonSchema(inputSchema, 'inputSchema', 'input'),
    outputSchema:
      outputSchema === undefined ? undefined : toJsonSchema(outputSchema, 'outputSchema', 'output'),
    parallelSafe: definition.parallelSafe ?? false,
    timeoutMs: definition.timeoutMs,
    spill: definition.spill ?? true,
    needsApproval: (input: Record<string, JsonValue>) =>
      typeof approval === 'function' ? approval(input as Input) : approval,
    execute: (input: Record<string, JsonValue>, context: ToolCallContext) =>
      callBody(definition, input, context),
  });
}

async function callBody<Input>(
  definition: ToolDefinition<Input>,
  input: Record<string, JsonValue>,
  context: ToolCallContext,
): Promise<ToolResult> {
  const { name, inputSchema } = definition;
  let parsed = input as Input;
  let value: unknown;
  try {
    if (isStandardSchema(inputSchema)) {
      const { issues, ...success } = await inputSchema['~standard'].validate(input);
      if (issues)
        return errorResult('INVALID_ARGUMENTS', invalidArguments(name, issueLines(issues)));
      parsed = (success as StandardSchemaV1.SuccessResult<Input>).value;
    }
    value = await definition.execute(parsed, context);
  } catch (error) {
    return resultOfError(error);
  }
  try {
    return resultOfValue(value);
  } catch (error) {
    return errorResult(
      'INVALID_OUTPUT',
      `\`${name}\` ran, but its result is not JSON: ${messageOf(error)}`,
    );
  }
}

/** The text of an `INVALID_ARGUMENTS` error: the tool and one line a problem. */
export function invalidArguments(name: string, problems: readonly string[]): string {
  return `The arguments of \`${name}\` do not fit its schema; it was not called:\n${problems.map((problem) => `- ${problem}`).join('\n')}`;
}

function issueLines(issues: readonly StandardSchemaV1.Issue[]): readonly string[] {
  return issues.map(({ message, path = [] }) => {
    const keys = path.map((part) => (typeof part === 'object' ? part.key : part));
    const steps = keys.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`));
    return `$${steps.join('')}: ${message}`;
  });
}

function assertDefinition(definition: {
  readonly [Option in keyof ToolDefinition]: unknown;
}): void {
  const { name, description, timeoutMs } = definition;
  if (typeof name !== 'string' || name.length === 0 || name.length > MAX_NAME_LENGTH) {
    const got = typeof name === 'string' ? `${name.length} characters` : typeof name;
    throw new TypeError(
      `Expected \`name\` of a tool to be text of 1 to ${MAX_NAME_LENGTH} characters, got ${got}`,
    );
  }
  const of = `of tool ${JSON.stringify(name)}`;
  // A lone surrogate becomes another character on the wire, and the call then names no tool.
  if (!name.isWellFormed())
    throw new TypeError(`Expected \`name\` ${of} to be well-formed Unicode`);
  if (typeof description !== 'string') {
    throw new TypeError(`Expected \`description\` ${of} to be a string, got ${typeof description}`);
  }
  if (typeof definition.execute !== 'function') {
    throw new TypeError(
      `Expected \`execute\` ${of} to be a function, got ${typeof definition.execute}`,
    );
  }
  if (
    timeoutMs !== undefined &&
    !(isWhole(timeoutMs) && timeoutMs >= 1 && timeoutMs <= MAX_TIMER_MS)
  ) {
    throw new TypeError(
      `Expected \`timeoutMs\` ${of} to be a whole number from 1 to ${MAX_TIMER_MS}, got ${String(timeoutMs)} (${typeof timeoutMs})`,
    );
  }
  assertKind(definition.parallelSafe, 'parallelSafe', of, ['boolean']);
  assertKind(definition.spill, 'spill', of, ['boolean']);
  assertKind(definition.approval, 'approval', of, ['boolean', 'function']);
}

function assertKind(value: unknown, option: string, of: string, kinds: readonly string[]): void {
  if (value === undefined || kinds.includes(typeof value)) return;
  throw new TypeError(
    `Expected \`${option}\` ${of} to be a ${kinds.join(' or a ')}, got ${String(value)} (${typeof value})`,
  );
}

function isWhole(value: unknown): value is number {
  return Number.isInteger(value);
}
