import { createHash } from 'node:crypto';
import { encodeLossless } from '@carrel/code-runtime';
import { messageOf } from '@carrel/code-runtime';
import { HarnessError } from '../errors.ts';
import type { ModelMessage, ModelRequest } from '../models/model.ts';
import { HistoryFold } from '../session/derive-history.ts';
import { decodeEvent } from '../session/event-text.ts';
import { buildRequest } from './build-request.ts';
import type { EpochHeader } from './request-header.ts';

/**
 * Holds every request against the log before it is sent.
 *
 * It knows nothing but the texts that are stored: it decodes them itself, and shares no object with
 * the loop. What one text says is taken up once, so that a long session is not folded again for
 * every request.
 */
export class RequestVerifier {
  /** Texts that were not decoded yet. */
  #texts: string[] = [];
  readonly #fold = new HistoryFold();
  /** What the events before the last `step/start` derive to. */
  #history: readonly ModelMessage[] = [];
  #header: EpochHeader | undefined;
  /** Digests of messages that only this object holds, and nobody changes. */
  readonly #digests = new WeakMap<ModelMessage, string>();

  /** Takes the text of the next event, as it is stored. */
  record(text: string): void {
    this.#texts.push(text);
  }

  /**
   * Rebuilds the request of the step that began last, and compares it part by part, by sha256, with
   * what is about to be sent.
   *
   * @param model - the id of the model that it goes to
   * @throws HarnessError `request-mismatch`; `details.parts` names what differs
   */
  verify(model: string, request: ModelRequest): void {
    this.#takeUp();
    if (this.#header === undefined) throw mismatch(['header']);
    const logged = buildRequest(this.#header, this.#history);
    const expected = partDigests(this.#header.model, logged, (message) => this.#digestOf(message));
    const actual = digestsToSend(model, request);
    const parts = Object.keys(expected).filter((part) => expected[part] !== actual[part]);
    if (parts.length > 0) throw mismatch(parts);
  }

  #takeUp(): void {
    const texts = this.#texts;
    this.#texts = [];
    for (const text of texts) {
      const event = decodeEvent(text);
      if (event.type === 'step/start') this.#history = this.#fold.messages();
      if (event.type === 'request/header') this.#header = event.data.header;
      this.#fold.add(event);
    }
  }

  #digestOf(message: ModelMessage): string {
    const known = this.#digests.get(message) ?? digest(message);
    this.#digests.set(message, known);
    return known;
  }
}

type Digests = Readonly<Record<string, string>>;

function digestsToSend(model: string, request: ModelRequest): Digests {
  try {
    return partDigests(model, request, digest);
  } catch (cause) {
    const message = `A request is not what JSON can say; it was not sent: ${messageOf(cause)}`;
    throw new HarnessError(message, { code: 'request-mismatch', cause });
  }
}

function partDigests(
  model: string,
  request: ModelRequest,
  digestOf: (message: ModelMessage) => string,
): Digests {
  // Whatever else a request holds, now or later, is compared as well.
  const { system, tools, messages, ...options } = request;
  return {
    model: digest(model),
    system: digest(system),
    tools: digest(tools),
    messages: digest(messages.map(digestOf)),
    options: digest(options),
  };
}

function digest(part: unknown): string {
  return createHash('sha256').update(encodeLossless(part)).digest('hex');
}

function mismatch(parts: readonly string[]): HarnessError {
  const message = `A request differs from what the session log says, in ${parts.join(', ')}; it was not sent`;
  return new HarnessError(message, { code: 'request-mismatch', details: { parts } });
}
