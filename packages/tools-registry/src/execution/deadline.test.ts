import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runBody } from './deadline.ts';

const never = new AbortController().signal;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function rejectsOnAbort(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(signal.reason as Error));
  return promise;
}

function throwsAtOnce(): Promise<never> {
  throw new Error('sync');
}

describe('runBody', () => {
  it('passes on what the body settles with, and leaves no timer', async () => {
    const options = { signal: never, timeoutMs: 100, abortGraceMs: 10 };
    expect(await runBody(() => Promise.resolve(1), options)).toEqual({
      state: 'fulfilled',
      value: 1,
      stoppedBy: undefined,
    });
    const error = new Error('x');
    expect(await runBody(() => Promise.reject(error), options)).toMatchObject({
      state: 'rejected',
      error,
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('fires the signal at the deadline and awaits the body', async () => {
    const end = runBody(rejectsOnAbort, { signal: never, timeoutMs: 100, abortGraceMs: 10 });
    await vi.advanceTimersByTimeAsync(99);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await end).toMatchObject({
      state: 'rejected',
      stoppedBy: 'deadline',
      error: { name: 'TimeoutError' },
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('gives up on a body that ignores its signal past the grace', async () => {
    const { promise } = Promise.withResolvers<number>();
    const end = runBody(() => promise, { signal: never, timeoutMs: 100, abortGraceMs: 10 });
    await vi.advanceTimersByTimeAsync(110);
    expect(await end).toEqual({ state: 'unsettled', stoppedBy: 'deadline' });
  });

  it('says that a cancellation stopped it, and not a deadline that passes later', async () => {
    const controller = new AbortController();
    const { promise, resolve } = Promise.withResolvers<number>();
    const options = { signal: controller.signal, timeoutMs: 100, abortGraceMs: 1_000 };
    const end = runBody(() => promise, options);
    controller.abort();
    await vi.advanceTimersByTimeAsync(200);
    resolve(7);
    expect(await end).toEqual({ state: 'fulfilled', value: 7, stoppedBy: 'signal' });
  });

  it('takes a synchronous throw as a rejection', async () => {
    const end = await runBody(throwsAtOnce, {
      signal: never,
      timeoutMs: undefined,
      abortGraceMs: 10,
    });
    expect(end).toMatchObject({ state: 'rejected', error: { message: 'sync' } });
  });
});
