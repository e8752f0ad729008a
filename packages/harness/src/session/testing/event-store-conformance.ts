import { describe, expect, it } from 'vitest';
import { HarnessError } from '../../errors.ts';
import type { EventStore } from '../event-store.ts';
import type { SessionEvent } from '../session-events.ts';

/** A store under test, and a way to look at what it really keeps. */
export interface StoreUnderTest {
  readonly store: EventStore;
  /** The durable events of a session, read from where they are. */
  read(sessionId: string): Promise<readonly SessionEvent[]>;
}

/** An event for tests. */
export function eventAt(seq: number, text = `text ${seq}`): SessionEvent {
  return { seq, type: 'assistant/chunk', time: 1_700_000_000_000 + seq, data: { text } };
}

/** What every {@link EventStore} has to do. */
export function describeEventStore(name: string, newStore: () => Promise<StoreUnderTest>): void {
  describe(`${name} as an EventStore`, () => {
    it('keeps what was appended before a flush, in order and to the byte', async () => {
      const { store, read } = await newStore();
      const log = await store.create('one');
      const events = [
        eventAt(0, 'line\nbreak "quoted" \u2028 é 🙂 \u0000'),
        eventAt(1),
        eventAt(2),
      ];
      log.append(events.slice(0, 2));
      log.append(events.slice(2));
      await log.flush();
      expect(await read('one')).toEqual(events);
      await log.close();
    });

    it('keeps the order when flushes and appends overlap', async () => {
      const { store, read } = await newStore();
      const log = await store.create('one');
      const flushes: Promise<void>[] = [];
      for (let seq = 0; seq < 50; seq += 1) {
        log.append([eventAt(seq)]);
        if (seq % 7 === 0) flushes.push(log.flush());
      }
      await Promise.all(flushes);
      await log.close();
      expect((await read('one')).map(({ seq }) => seq)).toEqual([...Array(50).keys()]);
    });

    it('keeps what the events were when they were appended', async () => {
      const { store, read } = await newStore();
      const log = await store.create('one');
      const data = { text: 'before' };
      log.append([{ ...eventAt(0), data } as SessionEvent]);
      data.text = 'after';
      await log.close();
      expect((await read('one'))[0]?.data).toEqual({ text: 'before' });
    });

    it('refuses a session that exists, and leaves it alone', async () => {
      const { store, read } = await newStore();
      const log = await store.create('one');
      log.append([eventAt(0)]);
      await log.flush();
      const second = store.create('one');
      await expect(second).rejects.toMatchObject({ code: 'session-exists' });
      await expect(second).rejects.toBeInstanceOf(HarnessError);
      expect(await read('one')).toHaveLength(1);
      await log.close();
    });

    it('keeps sessions apart whose ids are awkward as names', async () => {
      const { store, read } = await newStore();
      const ids = ['a', 'A', '../a', 'a/b', 'a b', '..', '', 'ä', 'a'.repeat(5_000), 'a\u0000b'];
      for (const id of ids) {
        const log = await store.create(id);
        log.append([eventAt(0, id)]);
        await log.close();
        expect(log.sessionId).toBe(id);
      }
      for (const id of ids) expect((await read(id))[0]?.data).toEqual({ text: id });
    });

    it('closes once however often it is asked to, and takes nothing afterwards', async () => {
      const { store, read } = await newStore();
      const log = await store.create('one');
      log.append([eventAt(0)]);
      await Promise.all([log.close(), log.close()]);
      await log.close();
      log.append([eventAt(1)]);
      await expect(log.flush()).rejects.toMatchObject({ code: 'store-failed' });
      expect(await read('one')).toEqual([eventAt(0)]);
    });
  });
}
