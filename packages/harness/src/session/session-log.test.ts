import { expect, it, vi } from 'vitest';
import { memoryEventStore } from './memory-event-store.ts';
import type { SessionEvent } from './session-events.ts';
import { SessionLog } from './session-log.ts';

async function newLog(
  onEvent?: (event: SessionEvent) => void,
): Promise<{ log: SessionLog; durable(): readonly SessionEvent[] }> {
  const store = memoryEventStore();
  const log = new SessionLog(await store.create('one'), { onEvent });
  return { log, durable: () => store.read('one') };
}

it('numbers events from 0 without gaps, and the store has the same ones', async () => {
  const { log, durable } = await newLog();
  log.append('turn/start', { turn: 1 });
  log.append('assistant/chunk', { text: 'a' });
  await log.flush();
  expect(log.events.map(({ seq }) => seq)).toEqual([0, 1]);
  expect(durable()).toEqual(log.events);
});

it('keeps a snapshot that nobody can change', async () => {
  const { log } = await newLog();
  const content = [{ type: 'text' as const, text: 'before' }];
  log.append('assistant/message', { content, finishReason: 'stop' });
  content[0]!.text = 'after';
  const [event] = log.events;
  expect(event?.data).toEqual({
    content: [{ type: 'text', text: 'before' }],
    finishReason: 'stop',
  });
  const kept = (event as SessionEvent & { type: 'assistant/message' }).data.content as unknown[];
  expect(() => kept.push('more')).toThrow(TypeError);
  expect(() => (log.events as SessionEvent[]).pop()).toThrow(TypeError);
});

it.each([
  ['undefined', undefined],
  ['a BigInt', 1n],
  ['a Map', new Map()],
  ['NaN', NaN],
  ['a Date', new Date(0)],
  ['-0', -0],
])('refuses %s with its path, and is as it was', async (_name, value) => {
  const { log, durable } = await newLog();
  const args = { deep: [value] } as never;
  const append = (): unknown =>
    log.append('tool/call', { callId: '1', toolName: 't', arguments: args });
  expect(append).toThrow(
    expect.objectContaining({
      code: 'event-not-json',
      details: { type: 'tool/call', path: '$.data.arguments.deep[0]' },
    }),
  );
  await log.flush();
  expect(log.events).toEqual([]);
  expect(durable()).toEqual([]);
  expect(log.append('turn/start', { turn: 1 }).seq).toBe(0);
});

it('tells of an event that is in the log already, and survives a listener that throws', async () => {
  const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const seen: number[] = [];
  const { log } = await newLog((event) => {
    seen.push(event.seq);
    expect(log.events.at(-1)).toBe(event);
    throw new Error('a broken listener');
  });
  log.append('turn/start', { turn: 1 });
  log.append('turn/start', { turn: 2 });
  expect(seen).toEqual([0, 1]);
  expect(warnings).toHaveBeenCalledTimes(2);
  warnings.mockRestore();
});
