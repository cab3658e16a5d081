import type { IncomingHttpHeaders } from 'node:http';
import { printable } from '#shared/base/errors';
import { type FailureReason, TransferError } from '../errors/transfer-error.ts';
import { connectionEnd } from './connection-end.ts';
import { loopAdvice, RefusedError } from './redirect.ts';
import { tlsProblem } from './request-failures.ts';
import { parseRetryAfter } from './retry.ts';

/** A request to a file server, as its error messages describe it. */
export interface FileContext {
  /** Name of the Endpoint. */
  endpoint: string;
  host: string;
  /** As in `reading "a/b"`. */
  activity: string;
  writing: boolean;
  /** True if the request carried credentials, or would have after a challenge. */
  hasCredentials: boolean;
  /** The host of the last request, if the server redirected it to another host. */
  redirectHost?: string | undefined;
  /** False if another server than the Endpoint's sent the response, so that messages must not quote it. */
  quotable?: boolean;
  /** Why a redirect is not followed. */
  refusal?: string | undefined;
}

/** Why a request failed, for programs and for people. */
export interface Advice {
  reason: FailureReason;
  text: string;
}

const maxQuoteLength = 300;

function subject({ host, redirectHost }: FileContext): string {
  return redirectHost === undefined ? 'The server' : `${redirectHost}, which server ${host} redirects to,`;
}

function unauthorized({ endpoint, hasCredentials, writing }: FileContext): string {
  if (!hasCredentials)
    return `it requires credentials, and Endpoint "${endpoint}" names no Secret (spec.secretRef)`;
  const right = writing ? 'write' : 'read';
  return `it refused the credentials: check the Secret of Endpoint "${endpoint}", and that the account may ${right} here`;
}

function advice(status: number, context: FileContext, location: string | undefined): Advice {
  const { redirectHost } = context;
  const loop = loopAdvice(context.refusal);
  if (loop !== undefined) return { reason: 'permanent', text: loop };
  if (status >= 300 && status < 400) return { reason: 'config', text: redirectText(location, context) };
  if (redirectHost !== undefined && (status === 401 || status === 403)) {
    const text = 'it refuses the URL that the server gave, and receives no credentials: retry later';
    return { reason: 'retryable', text };
  }
  if (status === 401) return { reason: 'auth', text: unauthorized(context) };
  if (status === 403) return { reason: 'denied', text: forbidden(context) };
  if (status === 404 || status === 410) return { reason: 'permanent', text: notFound(context) };
  if ((status === 405 || status === 501) && context.writing)
    return {
      reason: 'config',
      text: 'it does not accept uploads here: check type and remoteURL of the Endpoint',
    };
  const known = knownAdvice[status];
  if (known !== undefined) return known;
  return status >= 500
    ? { reason: 'retryable', text: 'the server has an internal problem: retry later' }
    : { reason: 'permanent', text: 'it does not accept the request' };
}

const conflict: Advice = {
  reason: 'retryable',
  text: 'another client is writing the same file: retry later',
};
const knownAdvice: Readonly<Record<number, Advice>> = {
  407: { reason: 'config', text: 'the proxy requires credentials: check HTTP_PROXY of the worker' },
  408: { reason: 'retryable', text: 'the request took too long: retry later' },
  409: conflict,
  412: conflict,
  413: {
    reason: 'permanent',
    text: 'it does not accept content of this size: raise the limit of the server or of the proxy in front of it',
  },
  423: conflict,
  429: { reason: 'retryable', text: 'it limits the rate of requests: retry later' },
  507: { reason: 'retryable', text: 'its storage is full: free some space' },
};

function forbidden({ writing, hasCredentials }: FileContext): string {
  const client = hasCredentials ? 'the account' : 'an anonymous client';
  return `${client} may not ${writing ? 'write' : 'read'} it: grant that right on the server`;
}

function notFound({ endpoint, hasCredentials }: FileContext): string {
  const hidden = hasCredentials ? '' : '; without credentials, a private file can appear not to exist';
  return `it does not exist: check the path and remoteURL of Endpoint "${endpoint}"${hidden}`;
}

function redirectText(location: string | undefined, { endpoint, refusal }: FileContext): string {
  const url = location !== undefined && URL.canParse(location) ? new URL(location) : undefined;
  const there = url === undefined ? '' : ` to ${url.protocol}//${url.host}`;
  const why = refusal === undefined ? '' : `: ${refusal}`;
  const host = url === undefined ? 'the host' : url.host;
  const fix = `If this is intended, list ${host} in spec.redirectHosts of Endpoint "${endpoint}", or set the final URL as its remoteURL`;
  return `it redirects${there}, which is not followed${why}. ${fix}`;
}

/** The failure for a response with an unexpected status. `quote` is the server's own error text; `known` overrides the usual advice. */
export function fileStatusFailure(
  context: FileContext,
  status: number,
  headers: IncomingHttpHeaders,
  quote = '',
  known?: Advice,
): TransferError {
  const { reason, text } = known ?? advice(status, context, headers.location);
  const retryAfterMs = parseRetryAfter(headers['retry-after'], Date.now());
  const said =
    quote === '' ? '' : ` It reports: ${printable(quote).slice(0, maxQuoteLength).replace(/\.$/, '')}.`;
  const message = `${subject(context)} answered ${status} while ${context.activity}: ${text}.${said}`;
  return new TransferError(reason, message, retryAfterMs === undefined ? {} : { retryAfterMs });
}

/** The failure for a request without a complete response: a network, TLS or protocol error. */
export function fileNetworkFailure(context: FileContext, caught: unknown): TransferError {
  if (caught instanceof TransferError) return caught;
  const code = caught instanceof Error && 'code' in caught ? String(caught.code) : '';
  const detail = caught instanceof Error ? caught.message : String(caught);
  const where = `${subject(context)} could not be reached while ${context.activity}`;
  const fail = (reason: FailureReason, why: string) =>
    new TransferError(reason, `${where}: ${why}.`, { cause: caught });
  const problem = tlsProblem(caught, context.endpoint, context.quotable);
  if (problem !== undefined) return fail('config', problem);
  if (code === 'ERR_ADDRESS_DENIED' || caught instanceof RefusedError) return fail('config', detail);
  if (code.startsWith('HPE_')) {
    const check = `check scheme and port in remoteURL of Endpoint "${context.endpoint}"`;
    return fail('config', `its response is not HTTP (${code}): ${check}`);
  }
  if (code === 'ERR_PROXY_TUNNEL') {
    const reason = /\b407\b/.test(detail) ? 'config' : 'retryable';
    return fail(
      reason,
      `the proxy refused the connection (${detail}): check HTTPS_PROXY and NO_PROXY of the worker`,
    );
  }
  const end = connectionEnd(caught, context.endpoint);
  if (end !== undefined) return fail('retryable', end.text);
  const check = `check remoteURL of Endpoint "${context.endpoint}", the network and the server`;
  return fail('retryable', `${code || 'no connection'} (${detail}); ${check}`);
}
