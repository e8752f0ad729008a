import { InvalidArgumentError } from '@ai-sdk/provider';
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import type { JsonValue } from '@carrel/code-runtime';
import type { WireTool } from '@carrel/tools-registry';
import { withCacheBreakpoints } from './cache-breakpoints.ts';
import type { AssistantPart, ModelMessage, ModelRequest } from './model.ts';
import { providerTraits } from './provider-traits.ts';
import type { ProviderTraits } from './provider-traits.ts';
import { toToolOutput } from './to-tool-output.ts';

/**
 * A request in the form of the AI SDK's provider interface. A pure function: equal requests are
 * equal bytes on the wire.
 *
 * @param provider - as the AI SDK names it
 * @throws InvalidArgumentError when `providerOptions` is not an object of objects
 */
export function toCallOptions(request: ModelRequest, provider: string): LanguageModelV4CallOptions {
  const traits = providerTraits(provider);
  const options = toProviderOptions(request.providerOptions);
  const plain = {
    prompt: [
      ...request.system.map((content) => ({ role: 'system' as const, content })),
      ...request.messages.flatMap((message) => toMessage(message, traits)),
    ],
    ...(request.tools.length > 0 && { tools: request.tools.map(toTool) }),
  };
  const automaticTail = options['anthropic']?.['cacheControl'] !== undefined;
  const sent = traits.storesAnswers ? withoutStore(options, provider) : options;
  return {
    ...(traits.cacheBreakpoints ? withCacheBreakpoints(plain, automaticTail) : plain),
    ...(request.maxOutputTokens !== undefined && { maxOutputTokens: request.maxOutputTokens }),
    ...(Object.keys(sent).length > 0 && { providerOptions: sent }),
  };
}

function toTool({ name, description, inputSchema }: WireTool): LanguageModelV4FunctionTool {
  // A tool's arguments are always an object, also where the schema allows anything.
  const schema = typeof inputSchema === 'boolean' ? { type: 'object' } : inputSchema;
  return {
    type: 'function',
    name,
    description,
    inputSchema: schema,
  };
}

function toMessage(message: ModelMessage, traits: ProviderTraits): LanguageModelV4Message[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: [{ type: 'text', text: message.text }] }];
    case 'assistant': {
      const content = message.content.flatMap(toAssistantPart);
      // Providers refuse an answer without content, as one that was cancelled at once has.
      return content.length === 0 ? [] : [{ role: 'assistant', content }];
    }
    case 'tool': {
      const { callId, toolName } = message;
      const output = toToolOutput(message, traits);
      return [
        { role: 'tool', content: [{ type: 'tool-result', toolCallId: callId, toolName, output }] },
      ];
    }
  }
}

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];

function toAssistantPart(part: AssistantPart): AssistantContent {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [part];
    case 'reasoning': {
      const { text, providerMetadata } = part;
      // It came from the provider as what is to be handed back.
      const providerOptions = providerMetadata as SharedV4ProviderOptions | undefined;
      return [{ type: 'reasoning', text, ...(providerOptions && { providerOptions }) }];
    }
    case 'tool-call':
      return [
        { type: 'tool-call', toolCallId: part.id, toolName: part.name, input: part.arguments },
      ];
  }
}

function toProviderOptions(options: JsonValue | undefined): SharedV4ProviderOptions {
  if (options === undefined) return {};
  if (!isObject(options) || !Object.values(options).every(isObject)) {
    throw new InvalidArgumentError({
      argument: 'providerOptions',
      message: 'providerOptions must hold one object for each provider, as { openai: { … } }',
    });
  }
  return options as SharedV4ProviderOptions;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A request holds all that a model needs. What OpenAI stored would be referred to instead, and be
 * gone after a while: so it stores nothing and hands out its reasoning, unless the request says so.
 */
function withoutStore(options: SharedV4ProviderOptions, provider: string): SharedV4ProviderOptions {
  const name = provider.startsWith('azure') && options['azure'] !== undefined ? 'azure' : 'openai';
  return { ...options, [name]: { store: false, ...options[name] } };
}
