import { APICallError, UnsupportedFunctionalityError } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { toModelError } from './model-failure.ts';

const context = { provider: 'a.provider', aborted: false };

function httpError(statusCode: number, message: string, more: object = {}): APICallError {
  return new APICallError({
    message,
    statusCode,
    url: 'http://a',
    requestBodyValues: {},
    data: {},
    ...more,
  });
}

describe('toModelError', () => {
  it('says what the provider said, in one sentence', () => {
    expect(toModelError(httpError(401, 'invalid x-api-key'), context)).toEqual({
      code: 'unauthorized',
      message: 'a.provider refused the credentials (HTTP 401): invalid x-api-key.',
      retryable: false,
    });
  });

  it('cuts long words short and keeps them on one line', () => {
    const { message } = toModelError(httpError(400, `a\n b${'c'.repeat(1000)}`), context);
    expect(message).toContain(': a bccc');
    expect(message.endsWith('c….')).toBe(true);
    expect(message.length).toBeLessThan(600);
  });

  it('takes the body of an error that has no known form', () => {
    const error = httpError(403, 'Forbidden', { data: undefined, responseBody: 'no such region' });
    expect(toModelError(error, context).message).toBe(
      'a.provider refused access (HTTP 403): Forbidden no such region.',
    );
  });

  it('puts an abort before whatever came of it', () => {
    const aborted = { ...context, aborted: true };
    expect(toModelError(httpError(500, 'x'), aborted)).toMatchObject({ code: 'aborted' });
  });

  it('does not ask for another try when there is no quota left', () => {
    const data = { error: { code: 'insufficient_quota' } };
    expect(toModelError(httpError(429, 'You exceeded your quota', { data }), context)).toEqual({
      code: 'rate-limited',
      message: 'a.provider has no quota left (HTTP 429): You exceeded your quota.',
      retryable: false,
    });
  });

  it('does not take a limit of tokens per minute for a request that is too long', () => {
    const error = httpError(429, 'Request has too many tokens per minute');
    expect(toModelError(error, context)).toMatchObject({ code: 'rate-limited', retryable: true });
  });

  it.each([
    'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
    'Your input exceeds the context window of this model.',
    'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  ])('knows what is too long: %s', (message) => {
    expect(toModelError(httpError(400, message), context).code).toBe('context-overflow');
  });

  it('knows a body that is too large', () => {
    expect(toModelError(httpError(413, 'Too large'), context).code).toBe('context-overflow');
  });

  it('names a refused connection that Node has no words for', () => {
    const refused = Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' });
    const error = new APICallError({
      message: 'Cannot connect to API: ',
      url: 'http://a',
      requestBodyValues: {},
      cause: refused,
    });
    expect(toModelError(error, context)).toEqual({
      code: 'network',
      message: 'The connection to a.provider failed: Cannot connect to API: (ECONNREFUSED).',
      retryable: true,
    });
  });

  it('says why an answer broke off', () => {
    const closed = Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' });
    const cause = new TypeError('terminated', { cause: closed });
    const error = httpError(200, 'Failed to process successful response', { cause });
    expect(toModelError(error, context)).toEqual({
      code: 'network',
      message: 'The answer of a.provider broke off: other side closed (UND_ERR_SOCKET).',
      retryable: true,
    });
  });

  it.each([
    new TypeError('terminated', {
      cause: Object.assign(new Error('x'), { code: 'UND_ERR_SOCKET' }),
    }),
    new DOMException('The operation timed out', 'TimeoutError'),
    httpError(200, 'Failed to process successful response'),
  ])('takes a broken connection for a failure of the network: %s', (error) => {
    expect(toModelError(error, context)).toMatchObject({ code: 'network', retryable: true });
  });

  it('takes what the client cannot express for a fault of the request', () => {
    const error = new UnsupportedFunctionalityError({ functionality: 'smells' });
    expect(toModelError(error, context)).toMatchObject({ code: 'invalid-request' });
  });

  it.each([new Error('odd'), 'odd', { message: 'odd' }])('passes on the words of %s', (failure) => {
    expect(toModelError(failure, context)).toEqual({
      code: 'unknown',
      message: 'a.provider failed: odd.',
      retryable: false,
    });
  });

  it('has words for nothing at all', () => {
    expect(toModelError(null, context).message).toBe('a.provider failed.');
    expect(toModelError(undefined, context).message).toBe(
      'The answer of a.provider broke off before its end.',
    );
  });
});
