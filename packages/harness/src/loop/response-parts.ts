import type { JsonValue } from '@carrel/code-runtime';
import type { AssistantPart } from '../models/model.ts';
import type { RequestedCall } from './requested-call.ts';

type Text = { type: 'text'; text: string };
type Reasoning = { type: 'reasoning'; text: string; providerMetadata?: JsonValue };

/** The parts of an answer while it streams in. */
export class ResponseParts {
  readonly #parts: (Text | Reasoning | AssistantPart)[] = [];
  /** The last part, while it is text that may go on. */
  #text: Text | undefined;
  /** The reasoning that has not ended yet. */
  #reasoning: Reasoning | undefined;

  /** Everything that came so far, without what is empty. */
  get content(): readonly AssistantPart[] {
    return this.#parts.filter((part) => {
      if (part.type === 'text') return part.text !== '';
      return part.type !== 'reasoning' || part.text !== '' || part.providerMetadata !== undefined;
    });
  }

  addText(text: string): void {
    if (text === '') return;
    if (this.#text === undefined) this.#parts.push((this.#text = { type: 'text', text }));
    else this.#text.text += text;
  }

  addReasoning(text: string): void {
    this.#openReasoning().text += text;
  }

  /** @param providerMetadata - what the provider wants back */
  endReasoning(providerMetadata: JsonValue | undefined): void {
    // Hidden reasoning has no text, only what is handed back.
    const reasoning = this.#openReasoning();
    if (providerMetadata !== undefined) reasoning.providerMetadata = providerMetadata;
    this.#reasoning = undefined;
  }

  addCall({ id, name, arguments: args, problem }: RequestedCall): void {
    this.#text = undefined;
    // Providers take nothing but an object back.
    this.#parts.push({ type: 'tool-call', id, name, arguments: problem === undefined ? args : {} });
  }

  #openReasoning(): Reasoning {
    if (this.#reasoning) return this.#reasoning;
    this.#text = undefined;
    const reasoning: Reasoning = { type: 'reasoning', text: '' };
    this.#parts.push(reasoning);
    return (this.#reasoning = reasoning);
  }
}
