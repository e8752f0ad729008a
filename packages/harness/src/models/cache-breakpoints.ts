import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider';

/** What breakpoints are set in: a call's prompt and its tools. */
export type CacheablePrompt = Pick<LanguageModelV4CallOptions, 'prompt' | 'tools'>;

const BREAKPOINT = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/**
 * The same prompt with Anthropic cache breakpoints: at the end of the stable system block (of the
 * tools, when there is no system block), at the end of the last system block, at the tail of the
 * previous request and at the tail of this one.
 *
 * Never more than four. Anthropic's client drops those past the fourth, and in reading order, so
 * that it is the tail that would go: the one breakpoint that must move with the conversation.
 *
 * @param automaticTail - whether the provider marks the tail by itself, which costs one of the four
 */
export function withCacheBreakpoints(
  { prompt, tools }: CacheablePrompt,
  automaticTail: boolean,
): CacheablePrompt {
  const marks = breakpointPositions(prompt);
  if (automaticTail) marks.delete(prompt.length - 1);
  const lastTool = prompt[0]?.role === 'system' ? undefined : tools?.at(-1);
  return {
    prompt: prompt.map((message, index) =>
      marks.has(index) ? { ...message, providerOptions: BREAKPOINT } : message,
    ),
    ...(tools !== undefined && {
      tools: tools.map((tool) =>
        tool === lastTool && tool.type === 'function'
          ? { ...tool, providerOptions: BREAKPOINT }
          : tool,
      ),
    }),
  };
}

function breakpointPositions(prompt: LanguageModelV4Prompt): Set<number> {
  const marks = new Set<number>();
  const firstMessage = prompt.findIndex(({ role }) => role !== 'system');
  const systemBlocks = firstMessage === -1 ? prompt.length : firstMessage;
  if (systemBlocks > 0) marks.add(0).add(systemBlocks - 1);
  if (prompt.length > systemBlocks) marks.add(prompt.length - 1);
  // The previous request ended right before the newest answer. Anthropic looks back only some
  // twenty blocks from a breakpoint for what it has cached, and one step may add more than that.
  const newestAnswer = prompt.findLastIndex(({ role }) => role === 'assistant');
  if (newestAnswer > systemBlocks) marks.add(newestAnswer - 1);
  return marks;
}
