/** How a body may be stopped; every figure in milliseconds. */
export interface StopOptions {
  /** Cancels from outside. */
  readonly signal: AbortSignal;
  /** The deadline, from the start of the body; `undefined` for none. */
  readonly timeoutMs: number | undefined;
  /** How long a body that was told to stop may take to settle. */
  readonly abortGraceMs: number;
}

/** How a body ended. */
export type BodyEnd<Value> = {
  /** What told the body to stop before it had settled, if anything did. */
  readonly stoppedBy: 'deadline' | 'signal' | undefined;
} & (
  | { readonly state: 'fulfilled'; readonly value: Value }
  | { readonly state: 'rejected'; readonly error: unknown }
  /** It was told to stop and did not settle within the grace; its late settlement is discarded. */
  | { readonly state: 'unsettled' }
);

/**
 * Runs a body that can be stopped from outside and by its own deadline. The body is awaited also
 * after it was told to stop, because what it does until it settles is still its doing; but only
 * for the grace. Never rejects, and leaves no timer behind.
 */
export async function runBody<Value>(
  body: (signal: AbortSignal) => Promise<Value>,
  { signal, timeoutMs, abortGraceMs }: StopOptions,
): Promise<BodyEnd<Value>> {
  const controller = new AbortController();
  const grace = Promise.withResolvers<{ readonly state: 'unsettled' }>();
  let stoppedBy: 'deadline' | 'signal' | undefined;
  let graceTimer: NodeJS.Timeout | undefined;
  const stop = (by: 'deadline' | 'signal', reason: unknown): void => {
    if (stoppedBy !== undefined) return;
    stoppedBy = by;
    graceTimer = setTimeout(() => grace.resolve({ state: 'unsettled' }), abortGraceMs);
    controller.abort(reason);
  };
  const onAbort = (): void => stop('signal', signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const deadlineTimer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => {
          stop('deadline', new DOMException(`no result within ${timeoutMs} ms`, 'TimeoutError'));
        }, timeoutMs);
  try {
    const settled = settlementOf(body, controller.signal);
    if (signal.aborted) onAbort();
    const end = await Promise.race([settled, grace.promise]);
    return { ...end, stoppedBy };
  } finally {
    clearTimeout(deadlineTimer);
    clearTimeout(graceTimer);
    signal.removeEventListener('abort', onAbort);
  }
}

async function settlementOf<Value>(
  body: (signal: AbortSignal) => Promise<Value>,
  signal: AbortSignal,
): Promise<
  | { readonly state: 'fulfilled'; readonly value: Value }
  | { readonly state: 'rejected'; readonly error: unknown }
> {
  try {
    return { state: 'fulfilled', value: await body(signal) };
  } catch (error) {
    return { state: 'rejected', error };
  }
}
