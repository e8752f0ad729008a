import type { ModelMessage, ModelRequest, SessionEvent } from '@carrel/harness';
import type { ToolContent, WireTool } from '@carrel/tools-registry';
import type { JsonValue } from '@carrel/code-runtime';
import { measureRequests, type RequestCost } from './measure-requests.ts';

/** What the conversation cost, and what the same calls would have cost one by one. */
export interface Receipt {
  readonly toolCalls: number;
  readonly code: RequestCost;
  readonly native: RequestCost;
}

/** How the figures come about, for whoever reads them. */
export const METHOD =
  'Input tokens by o200k_base, each tool, system block and message counted as its JSON. native: the same calls with the same results, one call a step, tools in the request instead of the SDK section, history sent again each time.';

interface SubCall {
  readonly callId: string;
  readonly toolName: string;
  readonly arguments: JsonValue;
  readonly isError: boolean;
  readonly content: readonly ToolContent[];
}

/** The calls that the programs made, in the order in which they settled, with what came of them. */
function subCallsOf(events: readonly SessionEvent[]): readonly SubCall[] {
  const started = new Map<string, JsonValue>();
  const calls: SubCall[] = [];
  for (const { type, data } of events) {
    if (type !== 'tool/code-dispatch') continue;
    if (data.phase === 'start') started.set(data.callId, data.arguments);
    else {
      const { callId, toolName, result } = data;
      const { isError, content } = result;
      calls.push({ callId, toolName, arguments: started.get(callId) ?? {}, isError, content });
    }
  }
  return calls;
}

/** The requests of a conversation that makes `calls` one at a time, and then answers. */
function* nativeRequests(
  task: string,
  system: readonly string[],
  tools: readonly WireTool[],
  calls: readonly SubCall[],
): Iterable<ModelRequest> {
  const messages: ModelMessage[] = [{ role: 'user', text: task }];
  yield { system, tools, messages: [...messages] };
  for (const { callId, toolName, arguments: args, isError, content } of calls) {
    messages.push(
      {
        role: 'assistant',
        content: [{ type: 'tool-call', id: callId, name: toolName, arguments: args }],
      },
      { role: 'tool', callId, toolName, isError, content },
    );
    yield { system, tools, messages: [...messages] };
  }
}

/**
 * Reckons up a conversation.
 *
 * @param sent - the requests that were really made
 * @param nativeSystem - the system blocks that native mode would have sent
 * @param nativeTools - the tools that native mode would have sent
 */
export function writeReceipt(
  task: string,
  sent: readonly ModelRequest[],
  events: readonly SessionEvent[],
  nativeSystem: readonly string[],
  nativeTools: readonly WireTool[],
): Receipt {
  const calls = subCallsOf(events);
  return {
    toolCalls: calls.length,
    code: measureRequests(sent),
    native: measureRequests(nativeRequests(task, nativeSystem, nativeTools, calls)),
  };
}
