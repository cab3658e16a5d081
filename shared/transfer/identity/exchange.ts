import { printable } from '#shared/base/errors';
import { TransferError } from '../errors/transfer-error.ts';
import { readBody } from '../http/body.ts';
import type { Advice } from '../http/file-failures.ts';
import type { HttpClient } from '../http/http-client.ts';
import { parseRetryAfter } from '../http/retry.ts';

/** One request to a service of a cloud that exchanges one proof of an identity for another. */
export interface Exchange {
  /** For messages, as in `assuming role "arn:..."`. */
  activity: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** What an answer that refuses it says: never a secret in the text. Undefined: nothing that is known. */
  explain: (body: Buffer) => { quote: string; advice?: Advice } | undefined;
}

/** What to do where a cloud is overloaded or has a problem of its own. */
export const busy: Advice = { reason: 'retryable', text: 'it cannot answer at the moment: retry later' };

const answerLimit = 256 * 1024;
const maxQuoteLength = 400;

/** Sends it, follows no redirect, and resolves with the body of the answer 200. Rejects with a TransferError, which the caller retries. */
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
    text: 'it does not accept the identity of the pod: check what its ServiceAccount is set up with',
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

/** The failure for an answer 200 that is not what it should be; it is not quoted, since it may hold a secret. */
export function unusable({ url, activity }: Pick<Exchange, 'url' | 'activity'>): TransferError {
  const text = `${new URL(url).host} gave an answer that cannot be used while ${activity}: check what answers there, such as a proxy.`;
  return new TransferError('permanent', text);
}
