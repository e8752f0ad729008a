import {
  type CodeBindingNamespace,
  type CodeCallRecord,
  type CodeRunEvent,
  encodeLossless,
  type JsonValue,
  MAX_JSON_DEPTH,
  messageOf,
} from '@carrel/code-runtime';
import { type GuestCall, ProtocolError } from './protocol.ts';

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

interface CallAnswer {
  /** A `CodeRunSettlement` as JSON. */
  readonly text: string;
  readonly failed: boolean;
}

interface OpenCall {
  readonly record: Mutable<CodeCallRecord>;
  readonly startedMs: number;
}

/** Names of each namespace's members, in the order in which guest and host count them. */
export function memberNames(
  bindings: readonly CodeBindingNamespace[],
): readonly (readonly string[])[] {
  return bindings.map(({ functions }) => Object.keys(functions));
}

/** The calls of one run, from the program's asking to the host's answer. */
export class HostCalls {
  readonly #bindings: readonly CodeBindingNamespace[];
  readonly #members: readonly (readonly string[])[];
  readonly #onEvent: (event: CodeRunEvent) => void;
  readonly #onSettled: (settlementText: string) => void;
  readonly #records: Mutable<CodeCallRecord>[] = [];
  readonly #open = new Map<number, OpenCall>();
  readonly #abort = new AbortController();
  #ended = false;
  #quiet: (() => void) | undefined;

  /** @param onSettled - handed each answer, a `CodeRunSettlement` as JSON, until the run ends */
  constructor(
    bindings: readonly CodeBindingNamespace[],
    onEvent: (event: CodeRunEvent) => void,
    onSettled: (settlementText: string) => void,
  ) {
    this.#bindings = bindings;
    this.#members = memberNames(bindings);
    this.#onEvent = onEvent;
    this.#onSettled = onSettled;
  }

  /** Every call so far, in program order. */
  get records(): readonly CodeCallRecord[] {
    return this.#records;
  }

  /** Calls without an answer. */
  get pending(): number {
    return this.#open.size;
  }

  /**
   * Takes note of a call, and starts it unless the run is over.
   *
   * @throws ProtocolError when there is no such member, or the id is not the next
   */
  make(call: GuestCall, start: boolean): void {
    const binding = this.#bindings[call.namespace];
    const name = this.#members[call.namespace]?.[call.member];
    const target = name === undefined ? undefined : binding?.functions[name];
    if (binding === undefined || name === undefined || target === undefined) {
      throw new ProtocolError('a call names no binding');
    }
    if (call.id !== this.#records.length + 1) throw new ProtocolError('a call is out of order');
    const record: Mutable<CodeCallRecord> = {
      id: String(call.id),
      global: binding.global,
      name,
      arguments: call.arguments,
      durationMs: 0,
      outcome: 'not-started',
    };
    this.#records.push(record);
    if (!start) return;
    this.#open.set(call.id, { record, startedMs: performance.now() });
    const { id, global, arguments: args } = record;
    this.#onEvent({ type: 'call-start', id, global, name, arguments: args });
    // The function owns its arguments: the record keeps the first copy.
    const copy = structuredClone<readonly JsonValue[]>(args);
    const running = (async () => target(copy, { id, signal: this.#abort.signal }))();
    running.then(
      (value) => this.#answer(call.id, valueSettlement(call.id, value)),
      (error: unknown) => this.#answer(call.id, errorSettlement(call.id, error)),
    );
  }

  /**
   * Ends the run for the calls: those in flight are told to stop and waited for.
   *
   * @param graceMs - after this a call that has not settled counts as `outcome-unknown`
   */
  async end(graceMs: number): Promise<void> {
    this.#ended = true;
    this.#abort.abort();
    if (this.#open.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#quiet = resolve;
      const timeout = setTimeout(resolve, graceMs);
      await promise;
      clearTimeout(timeout);
    }
    for (const id of this.#open.keys()) this.#close(id, 'outcome-unknown');
  }

  #answer(id: number, { text, failed }: CallAnswer): void {
    // Settled after the grace: the record already says that its outcome is unknown.
    if (!this.#open.has(id)) return;
    if (this.#ended) this.#close(id, 'aborted');
    else this.#close(id, failed ? 'failed' : 'done');
    if (!this.#ended) this.#onSettled(text);
    if (this.#open.size === 0) this.#quiet?.();
  }

  #close(id: number, outcome: CodeCallRecord['outcome']): void {
    const call = this.#open.get(id);
    if (call === undefined) return;
    this.#open.delete(id);
    call.record.outcome = outcome;
    call.record.durationMs = performance.now() - call.startedMs;
    this.#onEvent({ type: 'call-end', call: { ...call.record } });
  }
}

/** One settlement as the text of its JSON: encoded once, for the program and the journal alike. */
function valueSettlement(id: number, value: unknown): CallAnswer {
  if (value === undefined) return { text: `{"id":${id}}`, failed: false };
  try {
    return { text: `{"id":${id},"value":${encodeLossless(value, MAX_JSON_DEPTH)}}`, failed: false };
  } catch (error) {
    return failure(id, `The host function answered with no JSON value: ${messageOf(error)}`);
  }
}

function errorSettlement(id: number, error: unknown): CallAnswer {
  return failure(id, messageOf(error), codeOf(error));
}

function codeOf(error: unknown): string | undefined {
  try {
    const { code } = error as { readonly code?: unknown };
    return typeof code === 'string' ? code : undefined;
  } catch {
    return undefined; // What was thrown has no members, or one that cannot be read.
  }
}

function failure(id: number, message: string, code?: string): CallAnswer {
  const error = code === undefined ? { message } : { message, code };
  return { text: JSON.stringify({ id, error }), failed: true };
}
