import type { AssistantPart, ModelMessage, ModelRequest } from './model.ts';

/** Counts the tokens of a text; a whole number. */
export type CountTokens = (text: string) => number;

/** The input of one request, as a {@link SimulatedPromptCache} counts it. */
export interface SimulatedInput {
  readonly inputTokens: number;
  /** Tokens of the longest beginning that an earlier request had as well. */
  readonly cacheReadTokens: number;
}

interface Node {
  readonly tokens: number;
  readonly next: Map<string, Node>;
}

/**
 * A prompt cache that only exists on paper: it remembers requests, and tells how much of a new one
 * an ideal provider would have found in its cache. A request is a row of whole units (a system
 * block, a tool, a message), so nothing is shared after the first unit that differs. Nothing
 * expires, and there is no smallest size.
 */
export class SimulatedPromptCache {
  readonly #countTokens: CountTokens;
  /** All requests so far, from their first unit on; equal beginnings are one path. */
  readonly #root = new Map<string, Node>();

  constructor(countTokens: CountTokens) {
    this.#countTokens = countTokens;
  }

  /** Counts a request, and remembers it. */
  read(request: ModelRequest): SimulatedInput {
    let inputTokens = 0;
    let cacheReadTokens = 0;
    let level = this.#root;
    for (const unit of unitsOf(request)) {
      const key = JSON.stringify(unit);
      let node = level.get(key);
      if (node === undefined) {
        node = { tokens: this.#countTokens(renderUnit(unit)), next: new Map() };
        level.set(key, node);
      } else {
        cacheReadTokens += node.tokens;
      }
      inputTokens += node.tokens;
      level = node.next;
    }
    return { inputTokens, cacheReadTokens };
  }
}

type Unit =
  | { readonly role: 'system'; readonly text: string }
  | { readonly tool: ModelRequest['tools'][number] }
  | ModelMessage;

function unitsOf({ system, tools, messages }: ModelRequest): Unit[] {
  return [
    ...system.map((text) => ({ role: 'system' as const, text })),
    ...tools.map((tool) => ({ tool })),
    ...messages,
  ];
}

function renderUnit(unit: Unit): string {
  if ('tool' in unit) return JSON.stringify(unit.tool);
  switch (unit.role) {
    case 'system':
    case 'user':
      return unit.text;
    case 'assistant':
      return unit.content.map(renderPart).join('\n');
    case 'tool':
      return unit.content
        .map((part) => (part.type === 'text' ? part.text : `[image ${part.mediaType}]`))
        .join('\n');
  }
}

/** A part of an answer as text whose tokens can be counted. */
export function renderPart(part: AssistantPart): string {
  return part.type === 'tool-call' ? `${part.name} ${JSON.stringify(part.arguments)}` : part.text;
}
