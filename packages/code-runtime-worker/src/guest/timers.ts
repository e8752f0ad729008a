import { defineGlobal, text } from './intrinsics.ts';

/** Longer than any run: the host keeps such a timer, and it never fires. */
const MAX_DELAY_MS = 2 ** 31;

/** The program's timers; the host keeps the time and says when one is due. */
export interface GuestTimers {
  /** Timers begun and ended since this was last asked, each as the text of a JSON array. */
  take(): { readonly begun: string; readonly ended: string };
  /** Calls the function of a timer that is due. */
  fire(id: number): void;
}

/** Gives the program `setTimeout`, `clearTimeout` and `queueMicrotask`. */
export function installTimers(report: (reason: unknown) => void): GuestTimers {
  const waiting = new Map<number, () => void>();
  // Lists as JSON text: what leaves the guest is written here, not by the program's `toJSON`.
  let begun = '';
  let ended = '';
  let lastId = 0;
  const { apply } = Reflect;
  const mapSet = Map.prototype.set;
  const mapGet = Map.prototype.get;
  const mapDelete = Map.prototype.delete;

  function setTimeout(callback: unknown, delay: unknown, ...args: unknown[]): number {
    if (typeof callback !== 'function') throw new TypeError('setTimeout takes a function');
    // First, since it may run the program's own code, and that may set timers.
    const milliseconds = Number(delay);
    lastId += 1;
    const id = lastId;
    apply(mapSet, waiting, [id, () => apply(callback as never, undefined, args)]);
    // NaN counts as 0, and whatever is longer than any run as just that.
    const delayMs =
      milliseconds > 0 ? (milliseconds < MAX_DELAY_MS ? milliseconds : MAX_DELAY_MS) : 0;
    begun += `${begun === '' ? '' : ','}{"id":${id},"delayMs":${delayMs}}`;
    return id;
  }

  function clearTimeout(id: unknown): void {
    if (apply(mapDelete, waiting, [id])) ended += `${ended === '' ? '' : ','}${text(id)}`;
  }

  defineGlobal('setTimeout', setTimeout);
  defineGlobal('clearTimeout', clearTimeout);
  defineGlobal('queueMicrotask', (callback: () => void) => {
    if (typeof callback !== 'function') throw new TypeError('queueMicrotask takes a function');
    void settled().then(() => guarded(callback));
  });

  const PromiseClass = Promise;
  const settled = async (): Promise<void> => new PromiseClass<void>((resolve) => resolve());
  function guarded(callback: () => void): void {
    try {
      callback();
    } catch (reason) {
      report(reason); // Nobody awaits a timer: its error ends the program.
    }
  }

  return {
    take() {
      const taken = { begun: `[${begun}]`, ended: `[${ended}]` };
      begun = '';
      ended = '';
      return taken;
    },
    fire(id) {
      const callback = apply(mapGet, waiting, [id]) as (() => void) | undefined;
      if (callback === undefined) return;
      apply(mapDelete, waiting, [id]);
      guarded(callback);
    },
  };
}
