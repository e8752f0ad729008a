import { expect, it } from 'vitest';
import { memoryEventStore } from './memory-event-store.ts';
import { describeEventStore, eventAt } from './testing/event-store-conformance.ts';

describeEventStore('memoryEventStore', () => {
  const store = memoryEventStore();
  return Promise.resolve({ store, read: (id) => Promise.resolve(store.read(id)) });
});

it('memoryEventStore shows only what was flushed, as a crash would leave it', async () => {
  const store = memoryEventStore();
  const log = await store.create('one');
  log.append([eventAt(0)]);
  await log.flush();
  log.append([eventAt(1)]);
  expect(store.read('one')).toEqual([eventAt(0)]);
});
