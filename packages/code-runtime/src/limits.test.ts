import { describe, expect, it } from 'vitest';
import { LIMIT_NAMES, resolveLimits } from './limits.ts';

describe('resolveLimits', () => {
  it('gives every documented default', () => {
    expect(resolveLimits()).toEqual({
      cpuMs: 10_000,
      wallMs: 300_000,
      memoryBytes: 134_217_728,
      maxSourceBytes: 262_144,
      maxOutputBytes: 8_388_608,
      maxCalls: 10_000,
      maxPendingCalls: 1_000,
      maxArgumentBytes: 1_048_576,
      abortGraceMs: 2_000,
    });
  });

  it('takes a figure of the run before one of the runtime before the default', () => {
    const runtime = resolveLimits({ cpuMs: 5, wallMs: 7 });
    expect(resolveLimits({ cpuMs: 6 }, runtime)).toMatchObject({
      cpuMs: 6,
      wallMs: 7,
      maxCalls: 10_000,
    });
  });

  it('refuses a name that is no limit and names those there are', () => {
    expect(() => resolveLimits({ timeoutMs: 1 } as never)).toThrow(
      `Unknown limit \`timeoutMs\`. Known limits: ${LIMIT_NAMES.join(', ')}`,
    );
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '100', 2 ** 31])(
    'refuses %s milliseconds, naming limit, range and value',
    (value) => {
      expect(() => resolveLimits({ wallMs: value as number })).toThrow(
        `Expected limit \`wallMs\` to be a whole number from 1 to 2147483647, got ${value} (${typeof value})`,
      );
    },
  );

  it('refuses a memory limit that was meant in another unit', () => {
    expect(() => resolveLimits({ memoryBytes: 128 })).toThrow(/`memoryBytes`/);
    expect(() => resolveLimits({ memoryBytes: 128 * 1024 ** 4 })).toThrow(/`memoryBytes`/);
  });
});
