import { aiSdkModel, type Model } from '@carrel/harness';
import { scriptedConversation } from './scripted-conversation.ts';

/** A model, and one line on what it is. */
export interface ChosenModel {
  readonly model: Model;
  readonly scripted: boolean;
  readonly description: string;
}

interface Provider {
  readonly key: string;
  readonly defaultModel: string;
  readonly contextWindowTokens: number;
  load(model: string): Promise<Parameters<typeof aiSdkModel>[0]>;
}

const PROVIDERS: readonly Provider[] = [
  {
    key: 'ANTHROPIC_API_KEY',
    defaultModel: 'claude-sonnet-4-5',
    contextWindowTokens: 200_000,
    load: async (model) => (await import('@ai-sdk/anthropic')).anthropic(model),
  },
  {
    key: 'OPENAI_API_KEY',
    defaultModel: 'gpt-5',
    contextWindowTokens: 400_000,
    load: async (model) => (await import('@ai-sdk/openai')).openai(model),
  },
  {
    key: 'DEEPSEEK_API_KEY',
    defaultModel: 'deepseek-chat',
    contextWindowTokens: 128_000,
    load: async (model) => (await import('@ai-sdk/deepseek')).deepseek(model),
  },
];

/**
 * The model of the first provider whose key is set, or the scripted one.
 *
 * @param name - a model of that provider; its default when omitted
 */
export async function chooseModel(
  environment: NodeJS.ProcessEnv,
  name: string | undefined,
): Promise<ChosenModel> {
  const provider = PROVIDERS.find(({ key }) => (environment[key] ?? '') !== '');
  if (provider === undefined) {
    const keys = PROVIDERS.map(({ key }) => key).join(', ');
    return {
      model: scriptedConversation(),
      scripted: true,
      description: `A scripted model answers, against real tools. For a real one set one of ${keys}.`,
    };
  }
  const { key, defaultModel, contextWindowTokens } = provider;
  const languageModel = await provider.load(name ?? defaultModel);
  const model = aiSdkModel(languageModel, { contextWindowTokens });
  return { model, scripted: false, description: `${model.id} answers, by ${key}.` };
}
