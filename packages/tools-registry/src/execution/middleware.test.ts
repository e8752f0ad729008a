import { describe, expect, it } from 'vitest';
import { runChain } from './middleware.ts';
import type { Listener } from './middleware.ts';

function named(name: string): Listener<string[], string> {
  return async (trace, next) => {
    trace.push(`${name} in`);
    const result = await next();
    trace.push(`${name} out`);
    return `${name}(${result})`;
  };
}
const innermost = () => Promise.resolve('done');
const twice: Listener<null, number> = async (_context, next) => (await next()) + (await next());
const handing: Listener<null, string> = (_context, next) =>
  (next as unknown as (given: string) => Promise<string>)('changed');
const throwing: Listener<null, string> = () => {
  throw new Error('broken listener');
};

describe('runChain', () => {
  it('runs listeners around each other, the first outermost', async () => {
    const trace: string[] = [];
    expect(await runChain([named('a'), named('b')], trace, innermost)).toBe('a(b(done))');
    expect(trace).toEqual(['a in', 'b in', 'b out', 'a out']);
  });

  it('lets a listener answer without the rest', async () => {
    const trace: string[] = [];
    expect(
      await runChain([named('a'), () => Promise.resolve('refused'), named('b')], trace, innermost),
    ).toBe('a(refused)');
    expect(trace).toEqual(['a in', 'a out']);
  });

  it('refuses a second next() of the same listener', async () => {
    let runs = 0;
    const chain = runChain([twice], null, () => Promise.resolve((runs += 1)));
    await expect(chain).rejects.toThrow('next() was called more than once');
    expect(runs).toBe(1);
  });

  it('refuses something handed to next(), which would be ignored', async () => {
    await expect(runChain([handing], null, innermost)).rejects.toThrow('next() takes no argument');
  });

  it('rejects with what a listener throws', async () => {
    await expect(runChain([throwing], null, innermost)).rejects.toThrow('broken listener');
  });
});
