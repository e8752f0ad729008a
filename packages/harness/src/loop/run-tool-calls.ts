import { RUN_CODE, type BatchOptions, type ToolMode } from '@carrel/tools-registry';
import { messageOf } from '@carrel/code-runtime';
import { codeOf, warnOf } from '../errors.ts';
import { CallResults, failedResult } from './call-results.ts';
import type { LoopParts } from './loop-parts.ts';
import type { RequestedCall } from './requested-call.ts';

/**
 * Carries out the calls of one answer. Each is in the log, durably, before the first body runs, and
 * each is answered there whatever happens: by its result, or by one that says that it was not
 * started. Results stand in the order of the calls; what tools have to tell besides comes after all
 * of them.
 *
 * @throws HarnessError `store-failed`, after every call was answered
 */
export async function runToolCalls(
  loop: LoopParts,
  mode: ToolMode,
  calls: readonly RequestedCall[],
  signal: AbortSignal,
): Promise<void> {
  const { log } = loop;
  const results = new CallResults(log, mode === 'native' ? undefined : RUN_CODE, calls);
  let missing = failedResult('TOOL_ABORTED', 'The call was not started: the turn ended before.');
  try {
    for (const { id: callId, name: toolName, arguments: args } of calls) {
      log.append('tool/call', { callId, toolName, arguments: args });
    }
    await log.flush();
    if (!signal.aborted) await execute(loop, calls, results, signal);
  } catch (error) {
    if (codeOf(error) !== 'unexpected') throw error;
    // A registry does not reject; a tool set that does has not said what became of the calls.
    missing = failedResult('TOOL_FAILED', `The call failed: ${messageOf(error)}`);
  } finally {
    results.close(missing);
  }
  await log.flush();
}

async function execute(
  { tools, onRunEvent }: LoopParts,
  calls: readonly RequestedCall[],
  results: CallResults,
  signal: AbortSignal,
): Promise<void> {
  for (const call of calls) {
    if (call.problem === undefined) continue;
    results.add(call, failedResult('INVALID_ARGUMENTS', call.problem), 0);
  }
  const options: BatchOptions = {
    signal,
    onCodeDispatch: (event) => results.addDispatch(event),
    onRunEvent: (event, callId) => {
      try {
        onRunEvent?.(event, callId);
      } catch (error) {
        warnOf(error);
      }
    },
    onResult: (call, result, durationMs) => results.add(call, result, durationMs),
  };
  await tools.executeBatch(
    calls.filter(({ problem }) => problem === undefined),
    options,
  );
}
