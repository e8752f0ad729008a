import { APICallError } from '@ai-sdk/provider';
import type { ModelError } from './model.ts';

/** What {@link toModelError} knows besides the failure. */
export interface FailureContext {
  /** As the AI SDK names it; opens the sentence. */
  readonly provider: string;
  /** Whether the request had been aborted: then whatever failed, failed because of that. */
  readonly aborted: boolean;
}

/**
 * Why a request brought no answer, from whatever a provider's client threw or put into its stream.
 *
 * @param failure - `undefined` for an answer that broke off without a word
 */
export function toModelError(failure: unknown, { provider, aborted }: FailureContext): ModelError {
  if (aborted) return { code: 'aborted', message: 'The request was aborted.', retryable: false };
  if (failure === undefined) {
    return {
      code: 'network',
      message: `The answer of ${provider} broke off before its end.`,
      retryable: true,
    };
  }
  const facts = factsOf(failure);
  const { code, retryable, problem } = classify(facts);
  const status = facts.status === undefined ? '' : ` (HTTP ${facts.status})`;
  const subject =
    code === 'network'
      ? `The ${facts.begun ? 'answer of' : 'connection to'} ${provider}`
      : provider;
  const detail = oneLine(facts.detail);
  const said = detail === '' ? '' : `: ${detail}`;
  return { code, message: `${subject} ${problem}${status}${said}.`, retryable };
}

interface FailureFacts {
  /** Of an HTTP error, also of one that is reported inside a stream. */
  readonly status: number | undefined;
  /** The provider's own words, or the client's. */
  readonly detail: string;
  /** The provider's own error code and type. */
  readonly labels: string;
  /** The name of the client's error class. */
  readonly name: string;
  /** The connection broke or was never made. */
  readonly network: boolean;
  /** The provider had begun to answer. */
  readonly begun: boolean;
  readonly retryable: boolean;
}

function factsOf(failure: unknown): FailureFacts {
  const own = recordOf(failure);
  const data = recordOf(own['data']);
  const inner = recordOf(data['error'] ?? recordOf(data['response'])['error']);
  const labels = [own['code'], own['type'], data['code'], inner['code'], inner['type']]
    .filter((label) => typeof label === 'string')
    .join(' ');
  const status = own['statusCode'];
  const answered = typeof status === 'number' && status >= 400;
  const name = typeof own['name'] === 'string' ? own['name'] : '';
  const cut = typeof status === 'number' && !answered;
  return {
    status: answered ? status : undefined,
    // What a client says of a cut answer is only that it could not process it.
    detail: detailOf((cut && causesOf(failure).at(-1)) || failure),
    labels,
    name,
    begun: cut || name.includes('JSONParse'),
    // A call that failed without an HTTP error failed underneath HTTP.
    network: !answered && (APICallError.isInstance(failure) || brokenConnection(failure)),
    retryable: own['isRetryable'] === true,
  };
}

type Verdict = Pick<ModelError, 'code' | 'retryable'> & { readonly problem: string };

const CONTEXT_OVERFLOW =
  /context[_ ](length|window|limit)|maximum context|prompt is too long|input token count|too many tokens/i;
const MISUSE = /Unsupported|InvalidPrompt|InvalidArgument|NoSuchModel|NoSuchProvider|LoadSetting/;

function classify(facts: FailureFacts): Verdict {
  const { status, detail, labels, name, network, begun, retryable } = facts;
  if (name.includes('LoadAPIKey')) {
    return { code: 'unauthorized', retryable: false, problem: 'has no credentials' };
  }
  if (status === 401) {
    return { code: 'unauthorized', retryable: false, problem: 'refused the credentials' };
  }
  if (status === 402 || status === 403) {
    return { code: 'unauthorized', retryable: false, problem: 'refused access' };
  }
  if (status === 429) {
    // An account without credit is reported as a rate limit, and stays so.
    const exhausted = labels.includes('insufficient_quota');
    const problem = exhausted ? 'has no quota left' : 'limits the rate of requests';
    return { code: 'rate-limited', retryable: !exhausted, problem };
  }
  if (status !== undefined && status >= 500) {
    return { code: 'overloaded', retryable: true, problem: 'is overloaded or failing' };
  }
  if (status === 413 || CONTEXT_OVERFLOW.test(`${labels} ${detail}`)) {
    const problem = 'cannot fit the request into its context window';
    return { code: 'context-overflow', retryable: false, problem };
  }
  if (network || status === 408) {
    return { code: 'network', retryable: true, problem: begun ? 'broke off' : 'failed' };
  }
  if (status === undefined ? MISUSE.test(name) : !retryable) {
    return { code: 'invalid-request', retryable: false, problem: 'did not take the request' };
  }
  return { code: 'unknown', retryable, problem: 'failed' };
}

const CONNECTION_CODE = /^(E[A-Z]+|UND_ERR_[A-Z_]+)$/;
const CONNECTION_ERROR = /JSONParse|EmptyResponseBody|^(AbortError|TimeoutError)$/;
const CONNECTION_MESSAGE = /^(fetch failed|failed to fetch|terminated|network error)$/i;

function brokenConnection(failure: unknown): boolean {
  return causesOf(failure).some(
    ({ name, message, code }) =>
      CONNECTION_ERROR.test(name) ||
      CONNECTION_MESSAGE.test(message) ||
      (typeof code === 'string' && CONNECTION_CODE.test(code)),
  );
}

function detailOf(failure: unknown): string {
  const { message, data, responseBody } = recordOf(failure);
  let detail = typeof failure === 'string' ? failure : typeof message === 'string' ? message : '';
  if (APICallError.isInstance(failure) && data === undefined && typeof responseBody === 'string') {
    // No error of the provider's usual form: then its text says more than the status line.
    detail = `${detail} ${responseBody}`;
  }
  // Node words some refused connections as an empty message.
  const code = causesOf(failure).findLast((error) => typeof error.code === 'string')?.code;
  const missing = code !== undefined && CONNECTION_CODE.test(code) && !detail.includes(code);
  return missing ? `${detail} (${code})` : detail;
}

/** `failure` and what caused it, the outermost first. */
function causesOf(failure: unknown): (Error & { readonly code?: string })[] {
  const causes: Error[] = [];
  let current = failure;
  while (current instanceof Error && !causes.includes(current)) {
    causes.push(current);
    current = current.cause;
  }
  return causes;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

const MAX_DETAIL_CHARACTERS = 500;

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  const short =
    line.length > MAX_DETAIL_CHARACTERS
      ? `${line.slice(0, MAX_DETAIL_CHARACTERS).toWellFormed()}…`
      : line;
  return short.replace(/[.:\s]+$/, '');
}
