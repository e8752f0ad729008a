import type { Next } from './tool-execution.ts';

/** One link of a chain: does its part and calls `next()` for the rest, at most once, or not at all. */
export type Listener<Context, Result> = (context: Context, next: Next<Result>) => Promise<Result>;

/**
 * Runs a chain of listeners around an innermost step. Listeners share `context` and change it in
 * place, which is why `next()` takes no argument.
 *
 * @param innermost - what the last listener's `next()` does
 * @returns what the first listener answers with; rejects with what it throws, and with an `Error`
 * when a listener calls `next()` twice or hands something to it
 */
export function runChain<Context, Result>(
  listeners: readonly Listener<Context, Result>[],
  context: Context,
  innermost: () => Promise<Result>,
): Promise<Result> {
  const link = async (index: number): Promise<Result> => {
    const listener = listeners[index];
    if (listener === undefined) return innermost();
    let called = false;
    const next = (...given: readonly unknown[]): Promise<Result> => {
      if (given.length > 0) {
        return Promise.reject(
          new TypeError('next() takes no argument; change the context instead'),
        );
      }
      if (called)
        return Promise.reject(new Error('next() was called more than once by one listener'));
      called = true;
      return link(index + 1);
    };
    return listener(context, next);
  };
  return link(0);
}
