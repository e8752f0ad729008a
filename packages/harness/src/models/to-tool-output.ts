import type { LanguageModelV4ToolResultOutput } from '@ai-sdk/provider';
import type { ModelMessage } from './model.ts';
import type { ProviderTraits } from './provider-traits.ts';

type ToolMessage = Extract<ModelMessage, { role: 'tool' }>;
type ToolMessagePart = ToolMessage['content'][number];

/** What a tool answered, as far as the provider can express it; an image it cannot is named. */
export function toToolOutput(
  { content, isError }: ToolMessage,
  traits: ProviderTraits,
): LanguageModelV4ToolResultOutput {
  // The flag matters more than an image: no provider's client takes both.
  const asError = isError && traits.toolErrors;
  if (!asError && traits.toolImages && content.some(({ type }) => type === 'image')) {
    return { type: 'content', value: content.map(toOutputPart) };
  }
  const value = content.map(toText).join('\n');
  return { type: asError ? 'error-text' : 'text', value };
}

type OutputPart = Extract<LanguageModelV4ToolResultOutput, { type: 'content' }>['value'][number];

function toOutputPart(part: ToolMessagePart): OutputPart {
  if (part.type === 'text') return part;
  const { mediaType, base64 } = part;
  return { type: 'file', mediaType, data: { type: 'data', data: base64 } };
}

function toText(part: ToolMessagePart): string {
  if (part.type === 'text') return part.text;
  return `[an image (${part.mediaType}) that cannot be shown here]`;
}
