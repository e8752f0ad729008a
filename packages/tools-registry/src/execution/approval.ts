import { messageOf } from '@carrel/code-runtime';
import { errorResult } from '../tool-result.ts';
import type { ToolResult } from '../tool-result.ts';
import type { ApprovalHandler, ToolExecution } from './tool-execution.ts';

/**
 * Asks whether a call may run.
 *
 * @returns `undefined` when it may, else the failed call: refused, cancelled while waiting, or
 * nobody there to answer. Never rejects
 */
export async function askApproval(
  handler: ApprovalHandler | undefined,
  execution: ToolExecution,
  reason: string,
): Promise<ToolResult | undefined> {
  if (handler === undefined) {
    return errorResult(
      'APPROVAL_UNAVAILABLE',
      `The call was not made: it needs approval (${reason}), and nobody is there to give it.`,
    );
  }
  const { signal } = execution;
  const cancelled = Promise.withResolvers<'cancelled'>();
  const onAbort = (): void => cancelled.resolve('cancelled');
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    const answer = await Promise.race([handler(execution, reason), cancelled.promise]);
    if (answer === 'cancelled') {
      return errorResult('TOOL_ABORTED', 'The call was cancelled while it waited for approval.');
    }
    if (answer.approved) return undefined;
    const why = answer.reason === undefined ? '' : `: ${answer.reason}`;
    return errorResult('TOOL_DENIED', `The call was not made: approval was refused${why}`);
  } catch (error) {
    return errorResult(
      'APPROVAL_UNAVAILABLE',
      `The call was not made: it needs approval, and asking for it failed: ${messageOf(error)}`,
    );
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
