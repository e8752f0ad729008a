import { setImmediate } from 'node:timers/promises';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CallNotStartedError, DispatchQueue } from './dispatch-queue.ts';

/** A queue whose calls start and settle under the eyes of the test. */
class Bench {
  readonly queue: DispatchQueue;
  readonly started: string[] = [];
  readonly running = new Map<string, () => void>();
  readonly results: Promise<string>[] = [];

  constructor(maxParallel?: number) {
    this.queue = new DispatchQueue(maxParallel === undefined ? {} : { maxParallel });
  }

  add(name: string, parallelSafe = false, signal?: AbortSignal): Promise<string> {
    const task = (): Promise<string> => {
      const { promise, resolve } = Promise.withResolvers<string>();
      this.started.push(name);
      this.running.set(name, () => resolve(name));
      return promise;
    };
    const result = this.queue.add(task, { parallelSafe, ...(signal ? { signal } : {}) });
    this.results.push(result);
    return result;
  }

  async settle(name: string): Promise<void> {
    this.running.get(name)?.();
    this.running.delete(name);
    await setImmediate();
  }
}

describe('DispatchQueue', () => {
  it('runs calls one after the other, in the order of submission, under Promise.all', async () => {
    const bench = new Bench();
    const all = Promise.all(['a', 'b', 'c'].map((name) => bench.add(name)));
    await setImmediate();
    expect(bench.started).toEqual(['a']);
    await bench.settle('a');
    expect(bench.started).toEqual(['a', 'b']);
    await bench.settle('b');
    await bench.settle('c');
    expect(await all).toEqual(['a', 'b', 'c']);
  });

  it('overlaps parallel-safe calls up to the cap', async () => {
    const bench = new Bench(2);
    for (const name of ['a', 'b', 'c']) void bench.add(name, true);
    await setImmediate();
    expect(bench.started).toEqual(['a', 'b']);
    await bench.settle('b');
    expect(bench.started).toEqual(['a', 'b', 'c']);
    await bench.settle('a');
    await bench.settle('c');
    await bench.queue.drained();
  });

  it('has a cap of ten by default, and refuses one that is no number of calls', async () => {
    const bench = new Bench();
    for (let index = 0; index < 12; index += 1) void bench.add(String(index), true);
    await setImmediate();
    expect(bench.started).toHaveLength(10);
    expect(() => new DispatchQueue({ maxParallel: 0 })).toThrow(/from 1 up, got 0/);
  });

  it('holds an exclusive call back until all before it have settled, and all after it behind it', async () => {
    const bench = new Bench();
    void bench.add('read 1', true);
    void bench.add('read 2', true);
    void bench.add('write');
    void bench.add('read 3', true);
    await setImmediate();
    await bench.settle('read 1');
    expect(bench.started).toEqual(['read 1', 'read 2']);
    await bench.settle('read 2');
    expect(bench.started).toEqual(['read 1', 'read 2', 'write']);
    await bench.settle('write');
    expect(bench.started.at(-1)).toBe('read 3');
  });

  it('never starts what waits when it is abandoned, and lets what runs finish', async () => {
    const bench = new Bench();
    const first = bench.add('a');
    const second = bench.add('b');
    const third = bench.add('c', true);
    await setImmediate();
    bench.queue.abandon();
    await expect(second).rejects.toThrow(CallNotStartedError);
    await expect(third).rejects.toThrow(CallNotStartedError);
    await expect(bench.add('d')).rejects.toThrow(CallNotStartedError);
    let drained = false;
    const draining = bench.queue.drained().then(() => (drained = true));
    await setImmediate();
    expect(drained).toBe(false);
    await bench.settle('a');
    expect(await first).toBe('a');
    await draining;
    expect(bench.started).toEqual(['a']);
  });

  it('takes one call out when its signal fires before its turn, and not once it runs', async () => {
    const bench = new Bench();
    const controllers = ['a', 'b', 'c'].map(() => new AbortController());
    const results = ['a', 'b', 'c'].map((name, index) =>
      bench.add(name, false, controllers[index]?.signal),
    );
    await setImmediate();
    controllers[0]?.abort();
    controllers[1]?.abort();
    await expect(results[1]).rejects.toThrow(CallNotStartedError);
    await bench.settle('a');
    expect(await results[0]).toBe('a');
    await bench.settle('c');
    expect(bench.started).toEqual(['a', 'c']);
  });

  it('goes on after a call that fails, also one that throws at once', async () => {
    const queue = new DispatchQueue();
    const failing = queue.add(
      () => {
        throw new Error('at once');
      },
      { parallelSafe: true },
    );
    const next = queue.add(() => Promise.resolve('next'), { parallelSafe: false });
    await expect(failing).rejects.toThrow('at once');
    expect(await next).toBe('next');
  });

  it('keeps order, barriers and the cap for any mix of calls and settlements', async () => {
    const calls = fc.array(fc.boolean(), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(
        calls,
        fc.integer({ min: 1, max: 4 }),
        fc.infiniteStream(fc.nat()),
        async (safe, cap, picks) => {
          const bench = new Bench(cap);
          safe.forEach((parallelSafe, index) => void bench.add(String(index), parallelSafe));
          await setImmediate();
          while (bench.running.size > 0) {
            const running = [...bench.running.keys()];
            const exclusive = running.filter((name) => safe[Number(name)] === false);
            expect(running.length).toBeLessThanOrEqual(exclusive.length > 0 ? 1 : cap);
            const pick = picks.next().value as number;
            await bench.settle(running[pick % running.length] as string);
          }
          const order = safe.map((_, index) => String(index));
          expect(bench.started).toEqual(order);
          expect(await Promise.all(bench.results)).toEqual(order);
          await bench.queue.drained();
        },
      ),
      { numRuns: 100 },
    );
  });
});
