import { connectLimitMs, type Deadline, startDeadline } from '#shared/base/async';
import { ArcError, bytesText } from '#shared/base/errors';
import type { TraceContext } from '#shared/base/telemetry';
import { type Fetch, type FetchResponse, nodeFetch } from './node-fetch.ts';
import { errorFromResponse } from './status.ts';

/** The address and credentials of an API server. */
export interface ClusterAccess {
  /** Address of the API server, such as `https://10.0.0.1:443`, optionally with a path prefix. */
  server: string;
  /** Called before every request, so that a rotated token is used immediately. Absent: anonymous, or authenticated by `fetch`. */
  token?: (() => string | Promise<string>) | undefined;
  /** Default: `nodeFetch` with a connect timeout of 2 s. */
  fetch?: Fetch | undefined;
}

export interface TransportOptions extends ClusterAccess {
  userAgent: string;
  /**
   * Sent unchanged with every request: a component without its own spans must forward its parent (W3C Trace Context, section 3.4), or the
   * trace has gaps.
   */
  trace?: TraceContext | undefined;
  /** Deadline of a request, including the response. Default 30 s. */
  deadlineMs?: number | undefined;
}

export interface Outgoing {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query. */
  path: string;
  body?: object;
  /** Media type of the body. Default: application/json. */
  contentType?: string;
  /** The Accept header. Default: application/json. */
  accept?: string;
}

/** The bytes that a response may have. What was read of them is subtracted. */
export interface Allowance {
  bytes: number;
}

export interface Transport {
  /** Deadline of a request, and of a watch until its response begins. */
  deadlineMs: number;
  /**
   * Resolves with the parsed JSON body of a 2xx response. Rejects with ArcError otherwise, and with RequestEntityTooLarge if the body exceeds
   * the allowance, without reading the rest.
   */
  send(request: Outgoing, signal?: AbortSignal, allowance?: Allowance): Promise<unknown>;
  /** Resolves with a 2xx response whose body is unread. The caller must end `deadline`. */
  open(request: Outgoing, deadline: Deadline): Promise<FetchResponse>;
  /** Returns the error of a failed request or response body. */
  failure(caught: unknown, request: Outgoing, deadline: Deadline): ArcError;
}

const defaultDeadlineMs = 30_000;
const defaultFetch = nodeFetch(connectLimitMs);

/** Creates an HTTP transport to the API server with headers, deadlines, and errors as ArcError. Refuses redirects, which could leak the token. */
export function createTransport(options: TransportOptions): Transport {
  const server = serverAddress(options.server);
  const deadlineMs = options.deadlineMs ?? defaultDeadlineMs;

  const headers = async (request: Outgoing): Promise<Record<string, string>> => {
    const token = await options.token?.();
    return {
      accept: request.accept ?? 'application/json',
      'user-agent': options.userAgent,
      ...options.trace,
      ...(request.body !== undefined && { 'content-type': request.contentType ?? 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
  };

  const failure = (caught: unknown, request: Outgoing, deadline: Deadline): ArcError => {
    if (deadline.signal.aborted) return ArcError.from(deadline.signal.reason);
    if (caught instanceof ArcError) return caught;
    const message = `${describe(request)}: cannot reach the API server at ${server}: ${networkReason(caught)}`;
    return new ArcError('ServiceUnavailable', message, { cause: caught });
  };

  const open = async (request: Outgoing, deadline: Deadline): Promise<FetchResponse> => {
    const answer = await (options.fetch ?? defaultFetch)(`${server}${request.path}`, {
      method: request.method,
      headers: await headers(request),
      body: request.body === undefined ? null : JSON.stringify(request.body),
      signal: deadline.signal,
      redirect: 'manual',
    });
    if (answer.ok) return answer;
    const body = await answer.text();
    throw errorFromResponse(answer.status, body, describe(request), answer.headers.get('retry-after'));
  };

  return {
    deadlineMs,
    open,
    failure,
    async send(request, signal, allowance) {
      const deadline = startDeadline(deadlineMs, describe(request), signal);
      try {
        const answer = await open(request, deadline);
        const text = allowance === undefined ? answer.text() : boundedText(answer, request, allowance);
        return parse(await text, request);
      } catch (caught) {
        throw failure(caught, request, deadline);
      } finally {
        deadline.end();
      }
    },
  };
}

/**
 * Returns the address of an API server without a trailing slash. Throws BadRequest unless it is an http(s) URL without credentials.
 */
export function serverAddress(server: string): string {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new ArcError('BadRequest', 'the address of the API server must be an http:// or https:// URL');
  }
  if (url.username !== '' || url.password !== '') {
    throw new ArcError(
      'BadRequest',
      'the address of the API server must not contain credentials; use a token',
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** Returns the method and path of a request, without the query, for messages. */
export function describe(request: Outgoing): string {
  return `${request.method} ${request.path.split('?')[0]}`;
}

async function boundedText(answer: FetchResponse, request: Outgoing, allowance: Allowance): Promise<string> {
  const chunks: Uint8Array[] = [];
  const { bytes } = allowance;
  for await (const chunk of answer.body ?? []) {
    allowance.bytes -= chunk.length;
    // Leaving the loop closes the response.
    if (allowance.bytes < 0)
      throw new ArcError(
        'RequestEntityTooLarge',
        `${describe(request)}: the response exceeds ${bytesText(bytes)}`,
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text: string, request: Outgoing): unknown {
  try {
    return JSON.parse(text);
  } catch (caught) {
    throw new ArcError('InternalError', `${describe(request)}: the server did not return JSON`, {
      cause: caught,
    });
  }
}

/** Returns the reason of a network error. The global fetch throws "fetch failed" with the reason as its cause. */
function networkReason(caught: unknown): string {
  const cause = caught instanceof Error && caught.cause instanceof Error ? caught.cause : caught;
  if (!(cause instanceof Error)) return String(cause);
  const code = 'code' in cause ? String(cause.code) : '';
  return cause.message !== '' ? cause.message : code || cause.name;
}
