// The whole of the program's side, evaluated once in a fresh isolate. The worker calls the three
// functions exported here and nothing else.

import { GuestCalls, type CallAnswer } from './calls.ts';
import { installClock } from './clock.ts';
import { compile, removeStringEvaluation } from './compile.ts';
import { installConsole } from './console.ts';
import { notice } from './host.ts';
import { parse } from './intrinsics.ts';
import { failureOutcome, valueOutcome } from './outcome.ts';
import { installRandom } from './random.ts';
import { FINISHED, UNFINISHED } from './report-mark.ts';
import type { GuestRunOptions } from './run-options.ts';
import { installTimers } from './timers.ts';

/** Settlements that reach the program together. */
interface Batch {
  readonly atMs: number;
  readonly settlements: readonly (CallAnswer | { readonly timer: number })[];
}

let outcome: string | undefined;
let calls: GuestCalls | undefined;
let outputBytes = 0;

const ABSENT = ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry'];
for (const name of ABSENT) delete (globalThis as Record<string, unknown>)[name];
removeStringEvaluation();
const clock = installClock();
const seedRandom = installRandom();
const timers = installTimers(fail);
installConsole((entryText, bytes) => {
  outputBytes += bytes;
  notice('log', entryText);
});

function fail(reason: unknown): void {
  outcome ??= failureOutcome('exception', reason, calls?.callOf(reason));
}

/**
 * Starts the program.
 *
 * @param optionsText - `GuestRunOptions` as JSON
 */
export function start(optionsText: string): void {
  const options = parse(optionsText) as GuestRunOptions;
  clock.start(options.startTimeMs);
  seedRandom(options.seed);
  calls = new GuestCalls(options);
  let body: () => Promise<unknown>;
  try {
    body = compile(options.javascript);
  } catch (reason) {
    outcome = failureOutcome('syntax', reason, undefined);
    return;
  }
  void run(body, options.maxOutputBytes);
}

async function run(body: () => Promise<unknown>, maxOutputBytes: number): Promise<void> {
  try {
    const value = await body();
    outcome ??= valueOutcome(value, maxOutputBytes - outputBytes, maxOutputBytes);
  } catch (reason) {
    fail(reason);
  }
}

/**
 * Hands the program what was settled.
 *
 * @param batchText - a `Batch` as JSON
 */
export function settle(batchText: string): void {
  const { atMs, settlements } = parse(batchText) as Batch;
  clock.advance(atMs);
  for (let index = 0; index < settlements.length; index += 1) {
    const settlement = settlements[index] as Batch['settlements'][number];
    if ('timer' in settlement) timers.fire(settlement.timer);
    else calls?.settle(settlement);
  }
}

/** What the program did since this was last asked: a mark, and the text of a JSON object. */
export function report(): string {
  const { begun, ended } = timers.take();
  const did = `"calls":${calls?.take() ?? '[]'},"timersBegun":${begun},"timersEnded":${ended}`;
  return outcome === undefined
    ? `${UNFINISHED}{${did}}`
    : `${FINISHED}{${did},"outcome":${outcome}}`;
}
