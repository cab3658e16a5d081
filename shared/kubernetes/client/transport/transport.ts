import { connectLimitMs, type Deadline, startDeadline } from '#shared/base/async';
import { ArcError, bytesText } from '#shared/base/errors';
import type { TraceContext } from '#shared/base/telemetry';
import { type Answer, type Fetch, nodeFetch } from './node-fetch.ts';
import { errorFromAnswer } from './status.ts';

/** Where an API server is, and how to sign in. */
export interface ClusterAccess {
  /** Address of the API server: `https://10.0.0.1:443`, a path prefix allowed. */
  server: string;
  /** Called before every request, so that a rotated token is used at once. Absent: anonymous, or signed in by `fetch`. */
  token?: (() => string | Promise<string>) | undefined;
  /** Default: `nodeFetch`, with a connection within 2 s. */
  fetch?: Fetch | undefined;
}

export interface TransportOptions extends ClusterAccess {
  userAgent: string;
  /**
   * Sent unchanged with every request: a part that records no spans of its own passes on the one before it (W3C Trace Context,
   * section 3.4). Otherwise the recorded tree would have holes.
   */
  trace?: TraceContext | undefined;
  /** Bound of one request, answer included. Default 30 s. */
  deadlineMs?: number | undefined;
}

export interface Outgoing {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query. */
  path: string;
  body?: object;
  /** Of the body; application/json unless said otherwise. */
  contentType?: string;
  /** The Accept header; application/json unless said otherwise. */
  accept?: string;
}

export interface Transport {
  /** Bound of one request, and of a watch until its answer begins. */
  deadlineMs: number;
  /**
   * The parsed JSON body of a 2xx answer; rejects with ArcError otherwise, and with RequestEntityTooLarge where the body has more than
   * `mostBytes`, of which no more is read then.
   */
  send(request: Outgoing, signal?: AbortSignal, mostBytes?: number): Promise<unknown>;
  /** A 2xx answer whose body is still to be read; the caller ends the deadline that its signal belongs to. */
  open(request: Outgoing, deadline: Deadline): Promise<Answer>;
  /** The error for a failure while an answer is read. */
  failure(caught: unknown, request: Outgoing, deadline: Deadline): ArcError;
}

const defaultDeadlineMs = 30_000;
const defaultFetch = nodeFetch(connectLimitMs);

/** HTTP with the API server: headers, deadline, and failures as ArcError. Redirects are refused: they could carry the token away. */
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

  const open = async (request: Outgoing, deadline: Deadline): Promise<Answer> => {
    const answer = await (options.fetch ?? defaultFetch)(`${server}${request.path}`, {
      method: request.method,
      headers: await headers(request),
      body: request.body === undefined ? null : JSON.stringify(request.body),
      signal: deadline.signal,
      redirect: 'manual',
    });
    if (answer.ok) return answer;
    const body = await answer.text();
    throw errorFromAnswer(answer.status, body, describe(request), answer.headers.get('retry-after'));
  };

  return {
    deadlineMs,
    open,
    failure,
    async send(request, signal, mostBytes) {
      const deadline = startDeadline(deadlineMs, describe(request), signal);
      try {
        const answer = await open(request, deadline);
        const text = mostBytes === undefined ? answer.text() : boundedText(answer, request, mostBytes);
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
 * Checks the address of an API server and cuts its trailing slash; a path prefix stays. Throws BadRequest for anything
 * but an http(s) address without credentials in it.
 */
export function serverAddress(server: string): string {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new ArcError('BadRequest', 'the address of the API server must be an http:// or https:// URL');
  }
  if (url.username !== '' || url.password !== '') {
    throw new ArcError('BadRequest', 'the address of the API server must not carry credentials; use a token');
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** Names a request in messages: method and path without the query. */
export function describe(request: Outgoing): string {
  return `${request.method} ${request.path.split('?')[0]}`;
}

async function boundedText(answer: Answer, request: Outgoing, mostBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of answer.body ?? []) {
    length += chunk.length;
    // Leaving the loop ends the answer.
    if (length > mostBytes)
      throw new ArcError(
        'RequestEntityTooLarge',
        `${describe(request)}: the answer has more than ${bytesText(mostBytes)}`,
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text: string, request: Outgoing): unknown {
  try {
    return JSON.parse(text);
  } catch (caught) {
    throw new ArcError('InternalError', `${describe(request)}: the server did not answer with JSON`, {
      cause: caught,
    });
  }
}

/** The global fetch says only "fetch failed"; the reason is in its cause. */
function networkReason(caught: unknown): string {
  const cause = caught instanceof Error && caught.cause instanceof Error ? caught.cause : caught;
  if (!(cause instanceof Error)) return String(cause);
  const code = 'code' in cause ? String(cause.code) : '';
  return cause.message !== '' ? cause.message : code || cause.name;
}
