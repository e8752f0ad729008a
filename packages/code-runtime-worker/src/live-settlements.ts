import type { CodeCallRecord, CodeRunFailure } from '@carrel/code-runtime';
import type { HostCalls } from './host-calls.ts';
import { type GuestReport, ProtocolError } from './protocol.ts';
import type { Deliver, SettlementSource } from './settlement-source.ts';

/** The longest delay that a timer takes: above it `setTimeout` fires at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** Settlements as they happen: answers of host functions, and timers that are due. */
export class LiveSettlements implements SettlementSource {
  readonly #calls: HostCalls;
  readonly #deliver: Deliver;
  readonly #startedMs = performance.now();
  readonly #timers = new Map<number, NodeJS.Timeout>();
  /** Each a `CodeRunSettlement` as JSON. */
  #settled: string[] = [];
  /** Whether the guest waits for a batch. */
  #quiet = false;
  #ended = false;
  #delivery: NodeJS.Immediate | undefined;

  /** @param calls - makes the host's side of the calls, given where to put their answers */
  constructor(calls: (onSettled: (settlementText: string) => void) => HostCalls, deliver: Deliver) {
    this.#calls = calls((settlementText) => this.#settle(settlementText));
    this.#deliver = deliver;
  }

  get records(): readonly CodeCallRecord[] {
    return this.#calls.records;
  }

  take({ calls, timersBegun, timersEnded, outcome }: GuestReport): CodeRunFailure | undefined {
    const goesOn = outcome === undefined;
    for (const call of calls) this.#calls.make(call, goesOn);
    if (!goesOn) return undefined;
    for (const { id, delayMs } of timersBegun) this.#beginTimer(id, delayMs);
    for (const id of timersEnded) this.#endTimer(id);
    this.#quiet = true;
    if (this.#settled.length > 0) this.#deliverSoon();
    else if (this.#calls.pending === 0 && this.#timers.size === 0) {
      return {
        kind: 'deadlock',
        message: 'The program waits for something that nothing can settle any more',
      };
    }
    return undefined;
  }

  async end(graceMs: number): Promise<void> {
    this.#ended = true;
    clearImmediate(this.#delivery);
    for (const timeout of this.#timers.values()) clearTimeout(timeout);
    await this.#calls.end(graceMs);
  }

  #beginTimer(id: number, delayMs: number): void {
    if (this.#timers.has(id)) throw new ProtocolError('a timer is begun twice');
    const fire = (): void => {
      this.#timers.delete(id);
      this.#settle(`{"timer":${id}}`);
    };
    // A longer delay is past every wall limit, so such a timer never fires.
    const timeout =
      delayMs > MAX_DELAY_MS ? setTimeout(() => {}, MAX_DELAY_MS) : setTimeout(fire, delayMs);
    this.#timers.set(id, timeout);
  }

  #endTimer(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }

  #settle(settlementText: string): void {
    if (this.#ended) return;
    this.#settled.push(settlementText);
    if (this.#quiet) this.#deliverSoon();
  }

  /** Whatever settles in the same turn of the event loop travels together. */
  #deliverSoon(): void {
    this.#delivery ??= setImmediate(() => {
      this.#delivery = undefined;
      this.#quiet = false;
      const atMs = Math.round(performance.now() - this.#startedMs);
      const settled = this.#settled.join(',');
      this.#settled = [];
      this.#deliver(`{"atMs":${atMs},"settlements":[${settled}]}`);
    });
  }
}
