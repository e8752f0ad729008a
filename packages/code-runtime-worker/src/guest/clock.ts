import { defineGlobal, defineProperty, getOwnPropertyDescriptor } from './intrinsics.ts';

const RealDate = Date;
const { construct } = Reflect;

/** The run's own clock. It stands still between settlements, so that a replay reads the same. */
export interface GuestClock {
  /** Sets what `Date.now()` says at the start, in milliseconds since 1970. */
  start(startTimeMs: number): void;
  /** Moves on to so many milliseconds since the start. */
  advance(elapsedMs: number): void;
}

/** Replaces `Date` and `performance` by ones that read the run's own clock. */
export function installClock(): GuestClock {
  let startMs = 0;
  let elapsedMs = 0;
  const now = (): number => startMs + elapsedMs;

  function GuestDate(...args: unknown[]): unknown {
    if (new.target === undefined) return new RealDate(now()).toString();
    return construct(RealDate, args.length === 0 ? [now()] : args, new.target);
  }
  for (const name of ['UTC', 'parse'] as const) {
    // Both are own properties of every `Date` constructor.
    defineProperty(GuestDate, name, getOwnPropertyDescriptor(RealDate, name)!);
  }
  defineProperty(GuestDate, 'now', { value: now, configurable: true, writable: true });
  defineProperty(GuestDate, 'name', { value: 'Date', configurable: true });
  defineProperty(GuestDate, 'length', { value: 7, configurable: true });
  defineProperty(GuestDate, 'prototype', { value: RealDate.prototype, writable: false });
  defineProperty(RealDate.prototype, 'constructor', {
    value: GuestDate,
    configurable: true,
    writable: true,
  });
  defineGlobal('Date', GuestDate);
  const performance = {
    now: () => elapsedMs,
    get timeOrigin() {
      return startMs;
    },
  };
  defineGlobal('performance', performance);

  return {
    start(startTimeMs) {
      startMs = startTimeMs;
    },
    advance(milliseconds) {
      elapsedMs = milliseconds;
    },
  };
}
