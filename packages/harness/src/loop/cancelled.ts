import type { TurnEndReason } from '../session/session-events.ts';

/** What a turn's signal is aborted with. An `AbortError`, as those who rethrow a reason expect. */
export function cancelReason(cause: string): DOMException {
  return new DOMException(cause, 'AbortError');
}

/** How a turn ends whose signal was aborted by {@link cancelReason}. */
export function cancelled(signal: AbortSignal): TurnEndReason {
  return { type: 'aborted', cause: (signal.reason as DOMException).message };
}
