import { parseJson } from '@carrel/code-runtime';
import type { ModelStreamPart } from './model.ts';

type Metadata = Readonly<Record<string, object>>;

interface Block {
  readonly id: string;
  readonly waiting: string[];
  metadata: Metadata;
  /** Whether a delta of it has gone out. */
  begun: boolean;
  ended: boolean;
}

/**
 * Puts reasoning blocks one after the other. Providers open a block before they end the one before
 * it; a model's stream knows only one at a time.
 */
export class ReasoningBlocks {
  /** By their start. Only the first one's text goes out; the others' waits for its end. */
  readonly #open: Block[] = [];

  /** Takes up a block, or more of it. @returns the parts that are due, in order */
  add(id: string, text: string, metadata: Metadata | undefined): ModelStreamPart[] {
    const block = this.#block(id);
    if (text !== '') block.waiting.push(text);
    block.metadata = merged(block.metadata, metadata);
    return this.#due();
  }

  /** Ends a block. @returns the parts that are due, in order */
  end(id: string, metadata: Metadata | undefined): ModelStreamPart[] {
    const block = this.#block(id);
    block.metadata = merged(block.metadata, metadata);
    block.ended = true;
    return this.#due();
  }

  /** Ends whatever the provider left open. @returns the parts that are due, in order */
  endAll(): ModelStreamPart[] {
    for (const block of this.#open) block.ended = true;
    return this.#due();
  }

  #block(id: string): Block {
    const known = this.#open.find((block) => block.id === id);
    if (known !== undefined) return known;
    const block: Block = { id, waiting: [], metadata: {}, begun: false, ended: false };
    this.#open.push(block);
    return block;
  }

  #due(): ModelStreamPart[] {
    const parts: ModelStreamPart[] = [];
    for (let block = this.#open[0]; block !== undefined; block = this.#open[0]) {
      for (const text of block.waiting.splice(0)) {
        parts.push({ type: 'reasoning-delta', text });
        block.begun = true;
      }
      if (!block.ended) break;
      parts.push(...endOf(block));
      this.#open.shift();
    }
    return parts;
  }
}

function endOf({ metadata, begun }: Block): ModelStreamPart[] {
  const empty = Object.keys(metadata).length === 0;
  if (empty) return begun ? [{ type: 'reasoning-end' }] : [];
  // Without the members that are `undefined`: it must survive the log.
  const providerMetadata = parseJson(JSON.stringify(metadata));
  const end: ModelStreamPart = { type: 'reasoning-end', providerMetadata };
  // Redacted reasoning has no text, but the provider wants it back: an end ends something.
  return begun ? [end] : [{ type: 'reasoning-delta', text: '' }, end];
}

function merged(before: Metadata, more: Metadata | undefined): Metadata {
  if (more === undefined) return before;
  const all: Record<string, object> = { ...before };
  for (const [provider, members] of Object.entries(more)) {
    all[provider] = { ...all[provider], ...members };
  }
  return all;
}
