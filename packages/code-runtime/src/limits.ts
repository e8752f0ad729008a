/** Every budget of one run. Each ends the run alone, with the failure kind named here. */
export interface CodeRunLimits {
  /** Milliseconds of computing; waiting on calls and timers is free. Default 10,000. `cpu-limit`. */
  readonly cpuMs: number;
  /** Milliseconds from start to settlement; waiting for a worker does not count. Default 300,000. `wall-limit`. */
  readonly wallMs: number;
  /** Bytes of guest memory, heap and off-heap. Default 128 MiB. `memory-limit`. */
  readonly memoryBytes: number;
  /** Bytes of program text, as UTF-8. Default 256 KiB. `source-limit`. */
  readonly maxSourceBytes: number;
  /** Bytes of logs and value together, as UTF-8. Default 8 MiB. `output-limit`. */
  readonly maxOutputBytes: number;
  /** Calls of host functions in one run. Default 10,000. `call-limit`. */
  readonly maxCalls: number;
  /** Calls that are unanswered at the same time. Default 1,000. `call-limit`. */
  readonly maxPendingCalls: number;
  /** Bytes of one call's arguments as JSON. Default 1 MiB. Rejects that call, not the run. */
  readonly maxArgumentBytes: number;
  /** Milliseconds an aborted call may still take before it counts as `outcome-unknown`. Default 2,000. */
  readonly abortGraceMs: number;
}

interface LimitRule {
  readonly fallback: number;
  readonly minimum: number;
  readonly maximum: number;
}

const MIB = 1024 * 1024;
/** The longest delay a timer takes: `setTimeout` fires at once above it. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const RULES: Readonly<Record<keyof CodeRunLimits, LimitRule>> = {
  cpuMs: { fallback: 10_000, minimum: 1, maximum: MAX_TIMER_MS },
  wallMs: { fallback: 300_000, minimum: 1, maximum: MAX_TIMER_MS },
  // Below 8 MiB no engine starts; above 64 GiB a figure in another unit was meant.
  memoryBytes: { fallback: 128 * MIB, minimum: 8 * MIB, maximum: 64 * 1024 * MIB },
  maxSourceBytes: { fallback: 256 * 1024, minimum: 1, maximum: 64 * MIB },
  maxOutputBytes: { fallback: 8 * MIB, minimum: 1, maximum: 256 * MIB },
  maxCalls: { fallback: 10_000, minimum: 0, maximum: 10_000_000 },
  maxPendingCalls: { fallback: 1_000, minimum: 0, maximum: 1_000_000 },
  maxArgumentBytes: { fallback: MIB, minimum: 2, maximum: 256 * MIB },
  abortGraceMs: { fallback: 2_000, minimum: 0, maximum: MAX_TIMER_MS },
};

/** The names of all limits, in the order of the table in `docs/limits.md`. */
export const LIMIT_NAMES = Object.keys(RULES) as readonly (keyof CodeRunLimits)[];

/**
 * Completes `limits` with the defaults.
 *
 * @param limits - the figures that differ from `defaults`; a member that is `undefined` counts as absent
 * @param defaults - what stands in for an absent figure; the documented defaults when omitted
 * @throws TypeError for an unknown name, a figure that is not a whole number, or one out of range
 */
export function resolveLimits(
  limits: Partial<CodeRunLimits> = {},
  defaults?: CodeRunLimits,
): CodeRunLimits {
  for (const name of Object.keys(limits)) {
    if (!Object.hasOwn(RULES, name)) {
      throw new TypeError(`Unknown limit \`${name}\`. Known limits: ${LIMIT_NAMES.join(', ')}`);
    }
  }
  const resolved = LIMIT_NAMES.map((name) => {
    const rule = RULES[name];
    const value = limits[name] ?? defaults?.[name] ?? rule.fallback;
    if (!Number.isInteger(value) || value < rule.minimum || value > rule.maximum) {
      throw new TypeError(
        `Expected limit \`${name}\` to be a whole number from ${rule.minimum} to ${rule.maximum}, got ${String(value)} (${typeof value})`,
      );
    }
    return [name, value] as const;
  });
  return Object.fromEntries(resolved) as unknown as CodeRunLimits;
}
