import type { ToolPresentation } from '@carrel/tools-registry';
import { messageOf } from '@carrel/code-runtime';
import { HarnessError } from '../errors.ts';
import { assembleSections } from '../request/assemble-sections.ts';
import { buildRequest } from '../request/build-request.ts';
import { canonicalHeader } from '../request/canonical-header.ts';
import { logHeader } from '../request/log-header.ts';
import type { EpochHeader } from '../request/request-header.ts';
import { systemBlocks } from '../request/system-blocks.ts';
import { deriveHistory } from '../session/derive-history.ts';
import { cancelled } from './cancelled.ts';
import { endOfResponse } from './end-of-response.ts';
import type { AgentTools, LoopParts, StepEnd } from './loop-parts.ts';
import { logResponse } from './log-response.ts';
import { readResponse } from './read-response.ts';
import { runToolCalls } from './run-tool-calls.ts';

/** Which step it is: its turn in the session and its number in the turn, both from 1. */
export interface StepNumber {
  readonly turn: number;
  readonly step: number;
}

/**
 * One request to the model, and the calls of its answer.
 *
 * @throws HarnessError when something of the harness failed; the step is closed by then. Before
 * `step/start` nothing of it is in the log
 */
export async function runStep(
  loop: LoopParts,
  number: StepNumber,
  signal: AbortSignal,
): Promise<StepEnd> {
  const { log, model, tools, prefix, sections, hooks, maxOutputTokens } = loop;
  const { mode, wireTools, promptSection } = present(tools);
  const assembled = await assembleSections(hooks, sections, promptSection, signal);
  if (assembled === undefined) return cancelled(signal);
  const messagePrefix = await prefix.compose(signal);
  if (messagePrefix === undefined) return cancelled(signal);

  // The boundary: what is appended from here on belongs to the next request.
  const history = deriveHistory(log.events);
  log.append('step/start', number);
  try {
    const system = systemBlocks(assembled);
    const parts = { model: model.id, system, tools: wireTools, messagePrefix, maxOutputTokens };
    const header = await logHeader(log, canonicalHeader(parts));
    if (signal.aborted) return cancelled(signal);
    const response = await dispatch(loop, header, history, signal);
    logResponse(log, response);
    const end = endOfResponse(response, signal);
    if (end !== 'continue') return end;
    await runToolCalls(loop, mode, response.calls, signal);
    return 'continue';
  } finally {
    log.append('step/end', number);
  }
}

function dispatch(
  { log, model, verifier }: LoopParts,
  header: EpochHeader,
  history: ReturnType<typeof deriveHistory>,
  signal: AbortSignal,
): ReturnType<typeof readResponse> {
  const request = buildRequest(header, history);
  verifier.verify(model.id, request);
  return readResponse(model.stream(request, signal), signal, (text) =>
    log.append('assistant/chunk', { text }),
  );
}

function present(tools: AgentTools): ToolPresentation {
  try {
    return tools.present();
  } catch (cause) {
    const message = `The tool set cannot be presented: ${messageOf(cause)}`;
    throw new HarnessError(message, { code: 'tools-misconfigured', cause });
  }
}
