/** What a guest is told about its run; travels as JSON. */
export interface GuestRunOptions {
  /** The body of an async function. */
  readonly javascript: string;
  readonly seed: string;
  readonly startTimeMs: number;
  readonly namespaces: readonly GuestNamespace[];
  readonly maxCalls: number;
  readonly maxPendingCalls: number;
  readonly maxArgumentBytes: number;
  readonly maxOutputBytes: number;
}

/** One global object whose members are calls to the host. */
export interface GuestNamespace {
  readonly global: string;
  readonly members: readonly string[];
  readonly errorClass?: { readonly name: string; readonly memberProperty: string };
}
