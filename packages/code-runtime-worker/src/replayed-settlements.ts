import type {
  CodeBindingNamespace,
  CodeCallRecord,
  CodeRunEvent,
  CodeRunFailure,
  CodeRunFailureKind,
  CodeRunJournal,
} from '@carrel/code-runtime';
import { memberNames } from './host-calls.ts';
import { type GuestCall, type GuestReport, ProtocolError } from './protocol.ts';
import type { Deliver, SettlementSource } from './settlement-source.ts';

/** Characters of a call that a divergence shows. */
const MAX_CALL_LENGTH = 200;

/** Endings that the host decided, and that a replay can only take over from the journal. */
const HOST_ENDINGS: ReadonlySet<CodeRunFailureKind> = new Set([
  'aborted',
  'wall-limit',
  'deadlock',
]);

/** Settlements of a recorded run, handed over in the recorded batches. No host function is called. */
export class ReplayedSettlements implements SettlementSource {
  readonly #journal: CodeRunJournal;
  readonly #bindings: readonly CodeBindingNamespace[];
  readonly #members: readonly (readonly string[])[];
  readonly #onEvent: (event: CodeRunEvent) => void;
  readonly #deliver: Deliver;
  readonly #records: CodeCallRecord[] = [];
  #nextBatch = 0;
  #delivery: NodeJS.Immediate | undefined;

  constructor(
    journal: CodeRunJournal,
    bindings: readonly CodeBindingNamespace[],
    onEvent: (event: CodeRunEvent) => void,
    deliver: Deliver,
  ) {
    this.#journal = journal;
    this.#bindings = bindings;
    this.#members = memberNames(bindings);
    this.#onEvent = onEvent;
    this.#deliver = deliver;
  }

  get records(): readonly CodeCallRecord[] {
    return this.#records;
  }

  take({ calls, outcome }: GuestReport): CodeRunFailure | undefined {
    for (const call of calls) {
      const failure = this.#compare(call);
      if (failure !== undefined) return failure;
    }
    if (outcome !== undefined) return this.#compareEnding(outcome.failure?.kind);
    const batch = this.#journal.batches[this.#nextBatch];
    if (batch !== undefined) {
      this.#nextBatch += 1;
      this.#delivery = setImmediate(() => this.#hand(batch));
      return undefined;
    }
    const { failure } = this.#journal;
    return failure !== undefined && HOST_ENDINGS.has(failure.kind)
      ? failure
      : divergence(
          `The program still waits, but the recorded run ended here ${endingText(failure?.kind)}`,
        );
  }

  async end(): Promise<void> {
    clearImmediate(this.#delivery);
  }

  #compare({ id, namespace, member, arguments: args }: GuestCall): CodeRunFailure | undefined {
    const global = this.#bindings[namespace]?.global;
    const name = this.#members[namespace]?.[member];
    if (global === undefined || name === undefined) {
      throw new ProtocolError('a call names no binding');
    }
    const recorded = this.#journal.calls[id - 1];
    const call = { id: String(id), global, name };
    const made = callText({ global, name, arguments: args });
    if (recorded === undefined) {
      return divergence(`Call ${id} is ${cut(made)}, but the recorded run made none`, call);
    }
    const expected = callText(recorded);
    if (made !== expected) {
      const message = `Call ${id} is ${cut(made)}, but the recorded run called ${cut(expected)}`;
      return divergence(message, call);
    }
    this.#records.push({ ...call, arguments: args, durationMs: 0, outcome: recorded.outcome });
    if (recorded.outcome !== 'not-started') {
      this.#onEvent({ type: 'call-start', ...call, arguments: args });
    }
    return undefined;
  }

  #compareEnding(kind: CodeRunFailureKind | undefined): CodeRunFailure | undefined {
    const recorded = this.#journal.failure?.kind;
    if (kind !== recorded) {
      return divergence(
        `The program ended ${endingText(kind)}, and the recorded run ${endingText(recorded)}`,
      );
    }
    const { calls, batches } = this.#journal;
    const missing = calls[this.#records.length];
    if (missing !== undefined) {
      const { global, name } = missing;
      const id = String(this.#records.length + 1);
      const message = `The program ended, but the recorded run went on to call ${cut(callText(missing))}`;
      return divergence(message, { id, global, name });
    }
    return this.#nextBatch < batches.length
      ? divergence('The program ended, but the recorded run went on')
      : undefined;
  }

  #hand(batch: CodeRunJournal['batches'][number]): void {
    for (const settlement of batch.settlements) {
      const call = 'id' in settlement ? this.#records[settlement.id - 1] : undefined;
      if (call !== undefined) this.#onEvent({ type: 'call-end', call });
    }
    this.#deliver(JSON.stringify(batch));
  }
}

function divergence(message: string, call?: CodeRunFailure['call']): CodeRunFailure {
  return { kind: 'divergence', message, ...(call === undefined ? {} : { call }) };
}

function endingText(kind: CodeRunFailureKind | undefined): string {
  return kind === undefined ? 'with a return' : `with ${kind}`;
}

function callText({
  global,
  name,
  arguments: args,
}: Pick<CodeCallRecord, 'global' | 'name' | 'arguments'>): string {
  return `${global}[${JSON.stringify(name)}](${args.map((argument) => JSON.stringify(argument)).join(', ')})`;
}

function cut(text: string): string {
  return text.length > MAX_CALL_LENGTH ? `${text.slice(0, MAX_CALL_LENGTH)}…` : text;
}
