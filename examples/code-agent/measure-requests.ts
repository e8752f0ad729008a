import type { Model, ModelRequest } from '@carrel/harness';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

/** What a series of requests costs in input tokens (o200k_base). */
export interface RequestCost {
  readonly requests: number;
  /** Everything sent: the sum over all requests. */
  readonly sentTokens: number;
  /** Of these, the part that the request before had sent as well, from its start on. */
  readonly repeatedTokens: number;
}

/** Notes each request that goes to `model`, in order. */
export function recordRequests(model: Model): {
  readonly model: Model;
  readonly requests: readonly ModelRequest[];
} {
  const requests: ModelRequest[] = [];
  return {
    requests,
    model: {
      id: model.id,
      contextWindowTokens: model.contextWindowTokens,
      stream(request, signal) {
        requests.push(request);
        return model.stream(request, signal);
      },
    },
  };
}

/**
 * Counts the tokens of requests that follow each other.
 *
 * Each tool, system block and message is counted as its JSON. A request repeats what it has in
 * common with the one before, piece by piece from the start: what a prompt cache can save.
 */
export function measureRequests(requests: Iterable<ModelRequest>): RequestCost {
  const counted = new Map<string, number>();
  const tokensOf = (piece: string): number => {
    const known = counted.get(piece) ?? countTokens(piece);
    counted.set(piece, known);
    return known;
  };
  // A series of requests holds the same message objects over and over.
  const texts = new WeakMap<object, string>();
  const textOf = (piece: object): string => {
    const text = texts.get(piece) ?? JSON.stringify(piece);
    texts.set(piece, text);
    return text;
  };
  const cost = { requests: 0, sentTokens: 0, repeatedTokens: 0 };
  let before: readonly string[] = [];
  for (const { tools, system, messages } of requests) {
    const pieces = [...tools.map(textOf), ...system, ...messages.map(textOf)];
    const same = pieces.findIndex((piece, index) => piece !== before[index]);
    const repeated = same === -1 ? pieces.length : same;
    cost.requests += 1;
    for (const [index, piece] of pieces.entries()) {
      const tokens = tokensOf(piece);
      cost.sentTokens += tokens;
      if (index < repeated) cost.repeatedTokens += tokens;
    }
    before = pieces;
  }
  return cost;
}
