import { ToolsRegistry } from '@carrel/tools-registry';
import type { ToolDefinition, ToolsRegistryOptions } from '@carrel/tools-registry';
import { createAgent } from '../../agent.ts';
import type { AgentOptions } from '../../agent.ts';
import type { Agent } from '../../agent-contract.ts';
import type { Model, ModelRequest, ModelStreamPart } from '../../models/model.ts';
import type { MemoryEventStore } from '../../session/memory-event-store.ts';
import { memoryEventStore } from '../../session/memory-event-store.ts';
import type {
  SessionEvent,
  SessionEventMap,
  SessionEventType,
} from '../../session/session-events.ts';

/** One answer: its parts, or a function that streams them. */
export type Answer =
  | readonly ModelStreamPart[]
  | ((request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelStreamPart>);

const usage = { inputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 1 };

/** The part that ends an answer. */
export function finish(
  reason: Extract<ModelStreamPart, { type: 'finish' }>['reason'] = 'stop',
): ModelStreamPart {
  return { type: 'finish', reason, usage };
}

/** An answer that only says something. */
export function says(text: string): readonly ModelStreamPart[] {
  return [{ type: 'text-delta', text }, finish()];
}

/** A part that calls a tool. */
export function calls(id: string, name: string, args: unknown = {}): ModelStreamPart {
  return { type: 'tool-call', id, name, arguments: args as never };
}

/** A model that gives the answers in order, and then says `Done.` */
export class TestModel implements Model {
  readonly id = 'test/model';
  readonly contextWindowTokens = 1_000;
  /** Everything that was sent. */
  readonly requests: ModelRequest[] = [];
  readonly #answers: Answer[];

  constructor(...answers: readonly Answer[]) {
    this.#answers = [...answers];
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelStreamPart> {
    this.requests.push(request);
    const answer = this.#answers.shift() ?? says('Done.');
    if (typeof answer === 'function') yield* answer(request, signal);
    else yield* answer;
  }
}

/** A registry of these tools. */
export function registryOf(
  tools: readonly Partial<ToolDefinition>[] = [],
  options: ToolsRegistryOptions = {},
): ToolsRegistry {
  const registry = new ToolsRegistry(options);
  for (const tool of tools) {
    registry.register({
      name: 'tool',
      description: 'A tool.',
      inputSchema: { type: 'object' },
      execute: () => 'result',
      ...tool,
    });
  }
  return registry;
}

/** An agent in memory, and all that a test looks at. */
export interface TestAgent {
  readonly agent: Agent;
  readonly store: MemoryEventStore;
  /** The types of all events, without `assistant/chunk`. */
  types(): readonly string[];
  /** What the events of one type hold. */
  data<Type extends SessionEventType>(type: Type): readonly SessionEventMap[Type][];
}

/** Starts an agent; without a model one that says `Done.`, without tools one that has none. */
export async function newAgent(options: Partial<AgentOptions> = {}): Promise<TestAgent> {
  const store = memoryEventStore();
  const agent = await createAgent({
    model: new TestModel(),
    tools: registryOf(),
    store,
    ...options,
  });
  return {
    agent,
    store,
    types: () => agent.events.map(({ type }) => type).filter((type) => type !== 'assistant/chunk'),
    data: (type) => dataOf(agent.events, type),
  };
}

/** What the events of one type hold, in order. */
function dataOf<Type extends SessionEventType>(
  events: readonly SessionEvent[],
  type: Type,
): readonly SessionEventMap[Type][] {
  const chosen = events.filter((event) => event.type === type);
  return chosen.map(({ data }) => data as SessionEventMap[Type]);
}
