import { messageOf } from '@carrel/code-runtime';
import { isError } from './errors.ts';

/** How something ended that a cancel may overtake. */
export type EndOrAbort<Value> =
  | { readonly aborted: true }
  | { readonly aborted: false; readonly value: Value };

/**
 * Waits for `work`, or for the abort of `signal`, whichever is first. After an abort the work goes
 * on unobserved: what comes of it, a rejection included, is nobody's.
 *
 * @returns rejects as `work` does, unless the signal was aborted by then
 */
export function untilAborted<Value>(
  work: Promise<Value>,
  signal: AbortSignal,
): Promise<EndOrAbort<Value>> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => resolve({ aborted: true });
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    work.then(
      (value) => {
        signal.removeEventListener('abort', onAbort);
        // Does nothing after an abort: the promise is resolved then.
        resolve({ aborted: false, value });
      },
      (error: unknown) => {
        signal.removeEventListener('abort', onAbort);
        reject(isError(error) ? error : new Error(messageOf(error)));
      },
    );
  });
}
