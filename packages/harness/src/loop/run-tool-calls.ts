import type { ExecuteOptions, ToolMode, ToolResult } from '@carrel/tools-registry';
import { CallResults } from './call-results.ts';
import type { LoopParts } from './loop-parts.ts';
import type { RequestedCall } from './requested-call.ts';

/** The tool whose calls are programs, in every mode but `native`. */
const PROGRAM_TOOL = 'run_code';

/**
 * Carries out the calls of one answer. Each is in the log, durably, before the first body runs, and
 * each is answered there whatever happens: by its result, or by one that says that it was not
 * started. Results stand in the order of the calls; what tools have to tell besides comes after all
 * of them.
 *
 * @throws HarnessError `store-failed`, after every call was answered; `event-not-json` likewise,
 * when a call of a program could not be logged
 */
export async function runToolCalls(
  loop: LoopParts,
  mode: ToolMode,
  calls: readonly RequestedCall[],
  signal: AbortSignal,
): Promise<void> {
  const { log } = loop;
  const results = new CallResults(log, mode === 'native' ? undefined : PROGRAM_TOOL, calls);
  try {
    for (const { id: callId, name: toolName, arguments: args } of calls) {
      log.append('tool/call', { callId, toolName, arguments: args });
    }
    await log.flush();
    for (const run of runsOf(calls, mode)) {
      if (signal.aborted) break;
      await results.commit(run, () => execute(loop, run, results, signal));
    }
  } finally {
    results.close();
  }
  await log.flush();
  results.throwIfIncomplete();
}

/**
 * The calls that are handed to the registry together: a program alone, so that what it does can be
 * told to be its own. Programs never overlap with anything, so the order stays that of one batch.
 */
function runsOf(
  calls: readonly RequestedCall[],
  mode: ToolMode,
): readonly (readonly RequestedCall[])[] {
  const runs: RequestedCall[][] = [];
  let open: RequestedCall[] | undefined;
  for (const call of calls) {
    const alone = call.problem !== undefined || (mode !== 'native' && call.name === PROGRAM_TOOL);
    if (alone || open === undefined) runs.push((open = [call]));
    else open.push(call);
    if (alone) open = undefined;
  }
  return runs;
}

async function execute(
  { tools, onRunEvent }: LoopParts,
  run: readonly RequestedCall[],
  results: CallResults,
  signal: AbortSignal,
): Promise<readonly ToolResult[]> {
  const [first] = run;
  const options: ExecuteOptions = {
    signal,
    onCodeDispatch: (event) => results.addDispatch(event),
    onRunEvent: (event) => {
      if (first === undefined) return;
      try {
        onRunEvent?.(event, first.id);
      } catch (error) {
        // A spectator must not change what happens; it is told of as loudly as is harmless.
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    },
  };
  return tools.executeBatch(run, options);
}
