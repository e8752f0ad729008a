import { cancelled } from './cancelled.ts';
import type { StepEnd } from './loop-parts.ts';
import type { ModelResponse } from './read-response.ts';

/** What an answer means for its turn: `continue` when it has calls to run. */
export function endOfResponse({ calls, end }: ModelResponse, signal: AbortSignal): StepEnd {
  if (end.type === 'interrupted') return cancelled(signal);
  if (end.type === 'error') {
    const { code, message } = end.error;
    return { type: 'error', code, message };
  }
  switch (end.reason) {
    case 'max-tokens':
      return { type: 'max-tokens' };
    case 'content-filter': {
      const message = "The provider's filter withheld the answer, or the rest of it";
      return { type: 'error', code: 'content-filter', message };
    }
    // Some providers say `stop` or nothing of use when there are calls: the calls count.
    case 'stop':
    case 'tool-calls':
    case 'other':
      return calls.length > 0 ? 'continue' : { type: 'completed' };
  }
}
