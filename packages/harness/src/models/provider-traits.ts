/** Where providers differ in a way that the AI SDK does not level out. */
export interface ProviderTraits {
  /** Takes cache breakpoints in the form of Anthropic's `cacheControl`. */
  readonly cacheBreakpoints: boolean;
  /** Keeps answers, and has reasoning refer to them, unless told otherwise. */
  readonly storesAnswers: boolean;
  /** A tool result can say that it is an error. */
  readonly toolErrors: boolean;
  /** A tool result can hold an image. */
  readonly toolImages: boolean;
}

/**
 * The traits of a provider.
 *
 * @param provider - as the AI SDK names it: `anthropic.messages`, `openai.chat`, `deepseek.chat`
 */
export function providerTraits(provider: string): ProviderTraits {
  const openai = /^(openai|azure)\b/.test(provider);
  const deepseek = provider.startsWith('deepseek');
  return {
    // Also where another cloud serves it: `vertex.anthropic.messages`, `bedrock.anthropic.messages`.
    cacheBreakpoints: provider.includes('anthropic'),
    storesAnswers: openai && provider.endsWith('.responses'),
    // OpenAI's protocols have no such flag: its client would wrap the text into a JSON object, in
    // which a report of several lines is hard to read.
    toolErrors: !openai,
    // The chat completions protocol takes text only: its clients would send the base64 as text.
    toolImages: deepseek || !provider.endsWith('.chat'),
  };
}
