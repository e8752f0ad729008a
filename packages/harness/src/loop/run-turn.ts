import { messageOf } from '@carrel/code-runtime';
import { codeOf } from '../errors.ts';
import type { TurnEndReason } from '../session/session-events.ts';
import { cancelled } from './cancelled.ts';
import type { QueuedMessage } from './inbox.ts';
import type { LoopParts } from './loop-parts.ts';
import { runStep } from './run-step.ts';

/**
 * Works through one message of the user: step after step, until the model has answered, something
 * fails, or the signal is aborted. Never rejects: a failure is how the turn ends.
 *
 * The log gets exactly one `turn/start` and one `turn/end`, whatever happens between.
 *
 * @param turn - its number in the session, from 1
 */
export async function runTurn(
  loop: LoopParts,
  turn: number,
  { messageId, text }: Pick<QueuedMessage, 'messageId' | 'text'>,
  signal: AbortSignal,
): Promise<TurnEndReason> {
  const { log } = loop;
  // Neither this append nor that of the end throws: both are JSON, and the log contains its store.
  log.append('turn/start', { turn });
  let reason: TurnEndReason;
  try {
    log.append('user/message', { messageId, text });
    await log.flush();
    reason = await runSteps(loop, turn, signal);
  } catch (error) {
    reason = failed(error);
  }
  log.append('turn/end', { turn, reason });
  try {
    await log.flush();
  } catch (error) {
    return failed(error);
  }
  return reason;
}

async function runSteps(
  loop: LoopParts,
  turn: number,
  signal: AbortSignal,
): Promise<TurnEndReason> {
  const { maxStepsPerTurn } = loop;
  for (let step = 1; step <= maxStepsPerTurn; step += 1) {
    // Also the window after the calls of the step before.
    if (signal.aborted) return cancelled(signal);
    const end = await runStep(loop, { turn, step }, signal);
    if (end !== 'continue') return end;
  }
  if (signal.aborted) return cancelled(signal);
  const message = `The turn took ${maxStepsPerTurn} steps, and may not take more`;
  return { type: 'error', code: 'step-limit', message };
}

function failed(error: unknown): TurnEndReason {
  return { type: 'error', code: codeOf(error), message: messageOf(error) };
}
