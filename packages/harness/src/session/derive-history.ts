import type { AssistantPart, ModelMessage } from '../models/model.ts';
import type { SessionEvent, SessionEventMap } from './session-events.ts';

/**
 * The conversation that a log tells, as messages for a model. A pure function of its events, which
 * must be frozen: messages share their parts.
 *
 * Whatever the log holds, the pairing is one that providers take: each call of an answer is
 * answered directly after it, in order, exactly once. A call without a result, as a crash leaves
 * it, gets one that says so. What was appended between a call and its result comes after the
 * results; a result without a call is left out.
 */
export function deriveHistory(events: Iterable<SessionEvent>): readonly ModelMessage[] {
  const fold = new HistoryFold();
  for (const event of events) fold.add(event);
  return fold.messages();
}

type ToolMessage = Extract<ModelMessage, { role: 'tool' }>;
type ToolCallPart = Extract<AssistantPart, { type: 'tool-call' }>;

/** {@link deriveHistory} one event at a time, for a log that grows. */
export class HistoryFold {
  /** Messages that no later event changes. Each is frozen. */
  readonly #settled: ModelMessage[] = [];
  /** The calls of the last answer, in order, while one of them has no result. */
  #open: readonly ToolCallPart[] = [];
  readonly #results = new Map<string, ToolMessage>();
  /** What comes after the results of the open calls. */
  #waiting: ModelMessage[] = [];

  /** Takes up the next event of the log. */
  add({ type, data }: SessionEvent): void {
    switch (type) {
      case 'user/message':
        return this.#addUser(data.text);
      case 'context/message':
        return this.#addUser(contextEnvelope(data.source, data.text));
      case 'assistant/message':
        return this.#addAssistant(data);
      case 'tool/result':
        return this.#addResult(data);
      default:
        return undefined; // All other facts are not part of the conversation.
    }
  }

  /** The conversation so far; a list of its own each time, of messages that are shared. */
  messages(): readonly ModelMessage[] {
    return Object.freeze([...this.#settled, ...this.#answers(), ...this.#waiting]);
  }

  #addUser(text: string): void {
    const message: ModelMessage = Object.freeze({ role: 'user', text });
    (this.#open.length > 0 ? this.#waiting : this.#settled).push(message);
  }

  #addAssistant({ content }: SessionEventMap['assistant/message']): void {
    this.#settle();
    const parts = saidParts(content);
    // Reasoning that leads to nothing is no answer that a provider takes back.
    if (parts.every(({ type }) => type === 'reasoning')) return;
    this.#settled.push(Object.freeze({ role: 'assistant', content: Object.freeze(parts) }));
    this.#open = parts.filter((part) => part.type === 'tool-call');
  }

  #addResult({ callId, isError, content }: SessionEventMap['tool/result']): void {
    const call = this.#open.find(({ id }) => id === callId);
    if (call === undefined || this.#results.has(callId)) return;
    this.#results.set(callId, toolMessage(call, isError, content));
    if (this.#results.size === this.#open.length) this.#settle();
  }

  /** Answers the open calls for good. */
  #settle(): void {
    this.#settled.push(...this.#answers(), ...this.#waiting);
    this.#open = [];
    this.#results.clear();
    this.#waiting = [];
  }

  #answers(): readonly ToolMessage[] {
    return this.#open.map((call) => this.#results.get(call.id) ?? unanswered(call));
  }
}

/** The parts that say something; of two calls with one id the first, since results go by the id. */
function saidParts(content: readonly AssistantPart[]): AssistantPart[] {
  const ids = new Set<string>();
  return content.filter((part) => {
    if (part.type === 'text') return part.text !== '';
    if (part.type !== 'tool-call') return true;
    const first = !ids.has(part.id);
    ids.add(part.id);
    return first;
  });
}

function unanswered(call: ToolCallPart): ToolMessage {
  const text = 'There is no result of this call: whether it took effect is unknown.';
  return toolMessage(call, true, Object.freeze([Object.freeze({ type: 'text', text })]));
}

function toolMessage(
  { id, name }: ToolCallPart,
  isError: boolean,
  content: ToolMessage['content'],
): ToolMessage {
  return Object.freeze({ role: 'tool', callId: id, toolName: name, isError, content });
}

/** How a message that no person wrote is told from one that a person did. */
function contextEnvelope(source: string, text: string): string {
  const name = source.replaceAll(/[&"<>\r\n]/g, (character) => `&#${character.charCodeAt(0)};`);
  // The text must not end the envelope and go on in the user's name.
  const inside = text.replaceAll(/<\/(?=context\b)/gi, '<\\/');
  return `<context source="${name}">\n${inside}\n</context>`;
}
