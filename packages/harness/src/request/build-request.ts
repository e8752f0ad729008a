import { deepFreeze } from '@carrel/code-runtime';
import type { ModelMessage, ModelRequest } from '../models/model.ts';
import type { EpochHeader } from './request-header.ts';

/**
 * The request that a log says: system blocks, then the prefix, then the history; all but the
 * history is the header's.
 *
 * @param header - the one that holds, as it stands in the log
 * @param history - derived from the events before the step
 */
export function buildRequest(header: EpochHeader, history: readonly ModelMessage[]): ModelRequest {
  const { system = [], tools = [], messagePrefix = [], maxOutputTokens, providerOptions } = header;
  return deepFreeze({
    system,
    tools,
    messages: [...messagePrefix, ...history],
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(providerOptions === undefined ? {} : { providerOptions }),
  });
}
