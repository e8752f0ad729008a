import { resolveLimits } from '@carrel/code-runtime';
import type { CodeRunEvent, CodeRunLimits, CodeRuntime, JsonValue } from '@carrel/code-runtime';
import { CallNotStartedError, DispatchQueue } from './execution/dispatch-queue.ts';
import { executeTool } from './execution/execute-tool.ts';
import type { ToolEntry, ToolOutcome, ToolPipeline } from './execution/execute-tool.ts';
import { MiddlewareChains } from './execution/middleware-chains.ts';
import { notAdvertised, unknownTool } from './execution/refuse-call.ts';
import type { ApprovalHandler, ToolMiddleware } from './execution/tool-execution.ts';
import { presentTools } from './presentation/present-tools.ts';
import { renderDeclarations, RUN_CODE } from './presentation/render-sdk.ts';
import { schemaToType } from './presentation/schema-to-type.ts';
import type { ToolMode, ToolPresentation } from './presentation/tool-presentation.ts';
import type { CodeDispatchEvent } from './run-code/code-dispatch.ts';
import { createRunCodeTool, RUN_CODE_WIRE_TOOL } from './run-code/run-code-tool.ts';
import type { RunCodeOptions } from './run-code/run-code-tool.ts';
import type { SchemaDiagnostic } from './schema/schema-diagnostic.ts';
import { SchemaValidator } from './schema/validate.ts';
import { defineTool, MAX_TIMER_MS } from './tool.ts';
import type { Tool, ToolCall, ToolDefinition } from './tool.ts';
import { errorResult, resultOfError } from './tool-result.ts';
import type { ToolResult } from './tool-result.ts';

/** What {@link ToolsRegistry} takes. */
export interface ToolsRegistryOptions {
  /** How the tools reach the model. Default `native`. */
  readonly mode?: ToolMode;
  /** Runs the programs; needed in every mode but `native`. The registry does not dispose it. */
  readonly runtime?: CodeRuntime;
  /**
   * The names of the tools of this set: others that are registered stay out of it, and each name
   * must be registered when the set is presented. Default: all that are registered.
   */
  readonly tools?: readonly string[];
  /** Budgets of a program that differ from the runtime's own. */
  readonly limits?: Partial<CodeRunLimits>;
  /** Asks somebody whether a call may run. Without it, a call that needs approval is denied. */
  readonly approve?: ApprovalHandler;
  /** Milliseconds that a call which was told to stop may take to settle. Default: that of `limits`, else 2,000. */
  readonly abortGraceMs?: number;
}

/** What belongs to one call, and not to the registry. */
export interface ExecuteOptions {
  /** Cancels the call and, for `run_code`, the calls of its program. */
  readonly signal: AbortSignal;
  /**
   * Told of each call of a program as it starts and as it settles; never after the outer result.
   * The body of a call waits for what this answers its start with, and is not run when that throws
   * or rejects. Of a settlement, nothing is waited for.
   */
  onCodeDispatch?(event: CodeDispatchEvent): void | Promise<void>;
  /** Told what the program of a call does while it runs; never after its result. Must not throw. */
  onRunEvent?(event: CodeRunEvent, callId: string): void;
}

/** What belongs to the calls of one answer of the model. */
export interface BatchOptions extends ExecuteOptions {
  /**
   * Told of each result as it comes, in whatever order. Must not throw.
   *
   * @param durationMs - milliseconds from the call's turn to its result; 0 for one that had none
   */
  onResult?(call: ToolCall, result: ToolResult, durationMs: number): void;
}

/** A schema diagnostic with the tool that it is about. */
export interface ToolDiagnostic extends SchemaDiagnostic {
  readonly toolName: string;
  readonly schema: 'input' | 'output';
}

const MODES: readonly string[] = ['native', 'code', 'both'] satisfies ToolMode[];
/** Names that no tool may have beside programs: `then` would make `tools` something to be awaited. */
const RESERVED: readonly string[] = [RUN_CODE, 'then'];

/** Milliseconds that a runtime may take to end a worker, once its calls have had their grace. */
const WORKER_END_MS = 10_000;

/** A tool set: what a model is shown of it, and what comes of a call. Holds nothing of a session. */
export class ToolsRegistry {
  readonly #mode: ToolMode;
  readonly #runtime: CodeRuntime | undefined;
  readonly #configured: ReadonlySet<string> | undefined;
  readonly #limits: Partial<CodeRunLimits> | undefined;
  readonly #pipeline: ToolPipeline;
  readonly #entries = new Map<string, ToolEntry>();
  readonly #chains = new MiddlewareChains();
  readonly #runCodeInput = new SchemaValidator(RUN_CODE_WIRE_TOOL.inputSchema);
  /** Kept until the tool set changes: a loop asks for it before every request. */
  #presentation: ToolPresentation | undefined;

  /** @throws TypeError for a mode, limit or grace that is none */
  constructor(options: ToolsRegistryOptions = {}) {
    const { mode = 'native', limits, tools, approve } = options;
    if (!MODES.includes(mode)) {
      throw new TypeError(`Expected \`mode\` to be one of ${MODES.join(', ')}, got ${mode}`);
    }
    const { abortGraceMs = limits?.abortGraceMs } = options;
    const resolved = resolveLimits({
      ...limits,
      ...(abortGraceMs === undefined ? {} : { abortGraceMs }),
    });
    this.#mode = mode;
    this.#runtime = options.runtime;
    this.#configured = tools && new Set(tools);
    this.#limits = limits;
    this.#pipeline = {
      listeners: (name) => this.#chains.listeners(name),
      approve,
      abortGraceMs: resolved.abortGraceMs,
    };
  }

  /** How the tools reach the model. */
  get mode(): ToolMode {
    return this.#mode;
  }

  /**
   * Adds a tool.
   *
   * @returns its undo, which does nothing the second time
   * @throws TypeError for a bad definition, a name that is taken, or one that is reserved beside programs
   */
  register<Input = Record<string, JsonValue>>(tool: Tool | ToolDefinition<Input>): () => void {
    const added = isTool(tool) ? tool : defineTool(tool);
    const { name, inputSchema, outputSchema } = added;
    if (this.#entries.has(name)) {
      throw new TypeError(`A tool named ${JSON.stringify(name)} is already registered`);
    }
    if (this.#mode !== 'native' && RESERVED.includes(name)) {
      throw new TypeError(
        `The name ${JSON.stringify(name)} is reserved in mode \`${this.#mode}\`; register the tool under another one`,
      );
    }
    const entry = {
      tool: added,
      input: new SchemaValidator(inputSchema),
      output: outputSchema === undefined ? undefined : new SchemaValidator(outputSchema),
    };
    this.#entries.set(name, entry);
    this.#presentation = undefined;
    return () => {
      if (this.#entries.get(name) !== entry) return;
      this.#entries.delete(name);
      this.#presentation = undefined;
    };
  }

  /**
   * Adds a listener to one of the chains that every call passes. Listeners run in the order in
   * which they were added, each around those after it.
   *
   * @param options - `prepend` puts it before those that are there
   * @returns its undo, which does nothing the second time
   * @throws TypeError for a chain that does not exist or a listener that is no function
   */
  use<Name extends keyof ToolMiddleware>(
    name: Name,
    listener: ToolMiddleware[Name],
    options?: { readonly prepend?: boolean },
  ): () => void {
    return this.#chains.use(name, listener, options);
  }

  /** The tool of this name; `undefined` for none and for one outside the set. */
  get(name: string): Tool | undefined {
    const programs = this.#mode !== 'native' && this.#runtime !== undefined;
    if (name === RUN_CODE && programs)
      return this.#runCodeTool({ onCodeDispatch: undefined, onRunEvent: undefined });
    return this.#entryOf(name)?.tool;
  }

  /**
   * What the model is shown. The same bytes for the same tool set.
   *
   * @throws TypeError, every time, for a configured name without a tool, and for a mode with
   * programs without a TypeScript runtime
   */
  present(): ToolPresentation {
    this.#assertConfigured();
    return (this.#presentation ??= presentTools(this.#tools(), this.#mode, RUN_CODE_WIRE_TOOL));
  }

  /** The TypeScript declarations of what a program finds. The same bytes for the same tool set. */
  declarations(): string {
    return renderDeclarations(this.#tools());
  }

  /**
   * Where the schemas of the tools say more than is shown or checked, and why. Renders all of them:
   * for a start-up log or a command, not for every request.
   */
  diagnostics(): readonly ToolDiagnostic[] {
    return [...this.#entries.values()].flatMap(({ tool, input, output }) => [
      ...diagnosticsOf(tool.name, 'input', tool.inputSchema, input),
      ...(output ? diagnosticsOf(tool.name, 'output', tool.outputSchema, output) : []),
    ]);
  }

  /**
   * Carries out one call of the model. Never rejects: whatever goes wrong is a failed call.
   * What is not on the wire is not carried out either.
   */
  async execute(call: ToolCall, options: ExecuteOptions): Promise<ToolResult> {
    try {
      if (call.name === RUN_CODE && this.#mode !== 'native') {
        return await this.#executeRunCode(call, options);
      }
      const entry = this.#entryOf(call.name);
      if (entry === undefined) return this.#unknownTool(call.name);
      if (this.#mode === 'code') return notAdvertised(call.name);
      const { signal } = options;
      const execution = { signal, parentCallId: undefined };
      return (await executeTool(entry, call, execution, this.#pipeline)).result;
    } catch (error) {
      return resultOfError(error);
    }
  }

  /**
   * Carries out the calls of one model answer through one queue: in order, overlapping where all
   * tools involved allow it. Never rejects.
   *
   * @returns the results in the order of the calls
   */
  executeBatch(calls: readonly ToolCall[], options: BatchOptions): Promise<readonly ToolResult[]> {
    const queue = new DispatchQueue();
    const { signal } = options;
    const results = calls.map(async (call) => {
      const parallelSafe = this.#entryOf(call.name)?.tool.parallelSafe ?? false;
      let startedAt: number | undefined;
      const start = (): Promise<ToolResult> => {
        startedAt = performance.now();
        return this.execute(call, options);
      };
      const result = await queue.add(start, { parallelSafe, signal }).catch(notExecuted);
      options.onResult?.(call, result, startedAt === undefined ? 0 : performance.now() - startedAt);
      return result;
    });
    return Promise.all(results);
  }

  async #executeRunCode(call: ToolCall, options: ExecuteOptions): Promise<ToolResult> {
    this.#assertConfigured();
    let open = true;
    // Whatever a listener or a runtime still does later, the outer result has the last word.
    const tool = this.#runCodeTool({
      onCodeDispatch: (event) => (open ? options.onCodeDispatch?.(event) : undefined),
      onRunEvent: (event) => {
        if (open) options.onRunEvent?.(event, call.id);
      },
    });
    const entry = { tool, input: this.#runCodeInput, output: undefined };
    const { abortGraceMs } = this.#pipeline;
    // A run that was told to stop gives its calls the grace, twice at most, and then has to end a worker.
    const runGraceMs = Math.min(2 * abortGraceMs + WORKER_END_MS, MAX_TIMER_MS);
    const pipeline = { ...this.#pipeline, abortGraceMs: runGraceMs };
    const execution = { signal: options.signal, parentCallId: undefined };
    try {
      return (await executeTool(entry, call, execution, pipeline)).result;
    } finally {
      open = false;
    }
  }

  #runCodeTool(callbacks: Pick<RunCodeOptions, 'onCodeDispatch' | 'onRunEvent'>): Tool {
    const runtime = this.#runtime;
    if (runtime === undefined) throw new TypeError(missingRuntime(this.#mode));
    return createRunCodeTool({
      runtime,
      limits: this.#limits,
      abortGraceMs: this.#pipeline.abortGraceMs,
      tools: this.#tools(),
      dispatch: (call, signal, parentCallId) => this.#dispatch(call, signal, parentCallId),
      onCodeDispatch: callbacks.onCodeDispatch,
      onRunEvent: callbacks.onRunEvent,
    });
  }

  async #dispatch(call: ToolCall, signal: AbortSignal, parentCallId: string): Promise<ToolOutcome> {
    // Looked up now: a tool may be gone since the program started.
    const entry = this.#entryOf(call.name);
    if (entry === undefined) {
      return { result: this.#unknownTool(call.name), outcome: 'failed', bodyRan: false };
    }
    return executeTool(entry, call, { signal, parentCallId }, this.#pipeline);
  }

  #entryOf(name: string): ToolEntry | undefined {
    const inside = this.#configured?.has(name) ?? true;
    return inside ? this.#entries.get(name) : undefined;
  }

  #tools(): readonly Tool[] {
    return [...this.#entries.keys()].flatMap((name) => this.#entryOf(name)?.tool ?? []);
  }

  #unknownTool(name: string): ToolResult {
    const names = this.#tools().map((tool) => tool.name);
    return unknownTool(name, this.#mode === 'native' ? names : [...names, RUN_CODE]);
  }

  #assertConfigured(): void {
    const missing = [...(this.#configured ?? [])].filter((name) => !this.#entries.has(name));
    if (missing.length > 0) {
      const names = missing.map((name) => JSON.stringify(name)).join(', ');
      throw new TypeError(`No tool is registered for the configured ${names}`);
    }
    if (this.#mode === 'native') return;
    if (this.#runtime === undefined) throw new TypeError(missingRuntime(this.#mode));
    const language: string = this.#runtime.language;
    if (language !== 'typescript') {
      throw new TypeError(
        `Expected \`runtime\` to run typescript in mode \`${this.#mode}\`, got one for ${language}`,
      );
    }
  }
}

function isTool(tool: object): tool is Tool {
  return 'needsApproval' in tool && typeof tool.needsApproval === 'function';
}

function notExecuted(error: unknown): ToolResult {
  return error instanceof CallNotStartedError
    ? errorResult('TOOL_ABORTED', 'The call was cancelled before it started.')
    : resultOfError(error);
}

function missingRuntime(mode: ToolMode): string {
  return `Expected \`runtime\` in mode \`${mode}\`: programs need a TypeScript runtime, got undefined`;
}

function diagnosticsOf(
  toolName: string,
  schema: ToolDiagnostic['schema'],
  source: unknown,
  validator: SchemaValidator,
): readonly ToolDiagnostic[] {
  const found = [...validator.diagnostics, ...schemaToType(source).diagnostics];
  // Both start from the same normalised schema, and find the same in it.
  const distinct = new Map(found.map((item) => [`${item.path} ${item.message}`, item]));
  return [...distinct.values()].map((item) => ({ toolName, schema, ...item }));
}
