import { printable } from '#shared/base/errors';
import { TransferError } from '../errors/transfer-error.ts';
import { readBody } from '../http/body.ts';
import type { Advice } from '../http/file-failures.ts';
import type { HttpClient } from '../http/http-client.ts';
import { parseRetryAfter } from '../http/retry.ts';

/** A request that exchanges one proof of identity for another at a cloud service. */
export interface Exchange {
  /** For messages, as in `assuming role "arn:..."`. */
  activity: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Explains a refusal; the text must not contain secrets. Undefined for an unknown body. */
  explain: (body: Buffer) => { quote: string; advice?: Advice } | undefined;
}

/** Advice for an overloaded or failing cloud service. */
export const busy: Advice = { reason: 'retryable', text: 'it is unavailable: retry later' };

const answerLimit = 256 * 1024;
const maxQuoteLength = 400;

/** Sends the request without following redirects, and resolves with the body of a 200 response. Rejects with a TransferError; the caller retries. */
export async function exchange(client: HttpClient, request: Exchange, signal: AbortSignal): Promise<Buffer> {
  const { activity, url, headers, explain } = request;
  const body = Buffer.from(request.body);
  const where = new URL(url).host;
  const length = { 'user-agent': 'arc-transfer', 'content-length': String(body.length) };
  const sent = { method: 'POST', url: new URL(url), headers: { ...headers, ...length }, signal } as const;
  let answer: { status: number; retryAfter: string | undefined; bytes: Buffer | undefined };
  try {
    const { status, headers: answered, body: stream } = await client.send({ ...sent, body: () => body });
    const bytes = await readBody(stream, answerLimit);
    answer = { status, retryAfter: answered['retry-after'], bytes };
  } catch (caught) {
    throw unreachable(where, activity, caught);
  }
  const { status, retryAfter, bytes = Buffer.alloc(0) } = answer;
  if (status === 200) return bytes;
  const { quote = '', advice = adviceOf(status) } = explain(bytes) ?? {};
  const said = printable(quote).slice(0, maxQuoteLength).replace(/\.$/, '');
  const retryAfterMs = parseRetryAfter(retryAfter, Date.now());
  throw new TransferError(
    advice.reason,
    `${where} answered ${status} while ${activity}: ${advice.text}.${said === '' ? '' : ` It reports: ${said}.`}`,
    retryAfterMs === undefined ? {} : { retryAfterMs },
  );
}

function adviceOf(status: number): Advice {
  if (status === 429 || status === 408 || status >= 500) return busy;
  return {
    reason: 'auth',
    text: 'it does not accept the identity of the pod: check the configuration of its ServiceAccount',
  };
}

function unreachable(host: string, activity: string, caught: unknown): TransferError {
  const code = caught instanceof Error && 'code' in caught ? String(caught.code) : '';
  const detail = caught instanceof Error ? caught.message : String(caught);
  const check =
    'check the network and HTTPS_PROXY of the worker, and NODE_EXTRA_CA_CERTS if a proxy opens TLS';
  const text = `${host} could not be reached while ${activity}: ${code || 'no connection'} (${detail}); ${check}.`;
  return new TransferError('retryable', text, { cause: caught });
}

/** The failure for a malformed 200 response, which is not quoted because it may contain a secret. */
export function unusable({ url, activity }: Pick<Exchange, 'url' | 'activity'>): TransferError {
  const text = `${new URL(url).host} returned an unusable response while ${activity}: check whether a proxy answers instead.`;
  return new TransferError('permanent', text);
}
