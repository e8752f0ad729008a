import type { SessionEventMap } from '../session/session-events.ts';
import type { SessionLog } from '../session/session-log.ts';
import type { ModelResponse } from './read-response.ts';

/** Whether the calls of an answer are to be run: not those of one that was cut off or withheld. */
function runsCalls({ end }: Pick<ModelResponse, 'end'>): boolean {
  return end.type === 'finish' && end.reason !== 'max-tokens' && end.reason !== 'content-filter';
}

/**
 * Logs an answer as the history has it: whatever text came, and only calls that are run. An answer
 * that failed is logged as far as it came, and then why.
 */
export function logResponse(log: SessionLog, response: ModelResponse): void {
  const { end } = response;
  const content = runsCalls(response)
    ? response.content
    : response.content.filter(({ type }) => type !== 'tool-call');
  if (end.type === 'finish') {
    const { reason: finishReason, usage } = end;
    log.append('assistant/message', { content, usage, finishReason });
    return;
  }
  const finishReason: SessionEventMap['assistant/message']['finishReason'] = end.type;
  if (content.length > 0) log.append('assistant/message', { content, finishReason });
  if (end.type === 'error') log.append('request/error', { error: end.error });
}
