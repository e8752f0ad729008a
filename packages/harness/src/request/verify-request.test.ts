import { expect, it } from 'vitest';
import type { ModelRequest } from '../models/model.ts';
import { deriveHistory } from '../session/derive-history.ts';
import { encodeEvent } from '../session/event-text.ts';
import { memoryEventStore } from '../session/memory-event-store.ts';
import { SessionLog } from '../session/session-log.ts';
import { buildRequest } from './build-request.ts';
import { canonicalHeader, foldedHeader } from './canonical-header.ts';
import { RequestVerifier } from './verify-request.ts';

const header = canonicalHeader({
  model: 'm',
  system: ['be good'],
  tools: [{ name: 't', description: 'd', inputSchema: { type: 'object' } }],
  messagePrefix: [{ role: 'user', text: 'prefix' }],
  maxOutputTokens: 10,
});

async function loggedRequest(): Promise<{
  readonly verifier: RequestVerifier;
  readonly log: SessionLog;
  readonly request: ModelRequest;
}> {
  const verifier = new RequestVerifier();
  const onText = (text: string): void => verifier.record(text);
  const log = new SessionLog(await memoryEventStore().create('s'), { onText });
  log.append('user/message', { messageId: '1', text: 'hello' });
  const history = deriveHistory(log.events);
  log.append('step/start', { turn: 1, step: 1 });
  log.append('request/header', { header, reason: 'initial' });
  return { verifier, log, request: buildRequest(foldedHeader(log.events) ?? header, history) };
}

it('lets the request pass that the log says, however often', async () => {
  const { verifier, request } = await loggedRequest();
  expect(() => verifier.verify('m', request)).not.toThrow();
  expect(() => verifier.verify('m', structuredClone(request))).not.toThrow();
});

it('takes what came after step/start for a part of the next request', async () => {
  const { verifier, log, request } = await loggedRequest();
  log.append('context/message', { source: 'late', text: 'late' });
  log.append('assistant/chunk', { text: 'later' });
  verifier.verify('m', request);
  log.append('step/start', { turn: 1, step: 2 });
  expect(() => verifier.verify('m', request)).toThrow('in messages');
});

it.each<[string, (request: ModelRequest) => ModelRequest]>([
  ['system', (request) => ({ ...request, system: ['be bad'] })],
  ['tools', (request) => ({ ...request, tools: [] })],
  ['messages', (request) => ({ ...request, messages: request.messages.slice(1) })],
  ['messages', (request) => ({ ...request, messages: request.messages.toReversed() })],
  ['options', (request) => ({ ...request, maxOutputTokens: 11 })],
  ['options', (request) => ({ ...request, temperature: 1 })],
])('refuses a request with other %s', async (part, change) => {
  const { verifier, request } = await loggedRequest();
  expect(() => verifier.verify('m', change(request))).toThrow(
    expect.objectContaining({ code: 'request-mismatch', details: { parts: [part] } }),
  );
});

it('refuses another model, a request without a header, and one that is not JSON', async () => {
  const { verifier, request } = await loggedRequest();
  expect(() => verifier.verify('other', request)).toThrow('in model');
  expect(() => new RequestVerifier().verify('m', request)).toThrow('in header');
  const odd = { ...request, providerOptions: undefined as never };
  expect(() => verifier.verify('m', odd)).toThrow(
    expect.objectContaining({ code: 'request-mismatch' }),
  );
});

it('looks at the stored text, not at what the loop holds', async () => {
  const { log, request } = await loggedRequest();
  const verifier = new RequestVerifier();
  for (const event of log.events) verifier.record(encodeEvent(event).replace('hello', 'HELLO'));
  expect(() => verifier.verify('m', request)).toThrow('in messages');
});
