import type { IncomingHttpHeaders } from 'node:http';
import { abortError, type TransferError } from '../errors/transfer-error.ts';
import { type BodySource, type ByteStream, readBody } from '../http/body.ts';
import { certificateRefusal } from '../http/client-certificate.ts';
import {
  type Advice,
  type FileContext,
  fileNetworkFailure,
  fileStatusFailure,
} from '../http/file-failures.ts';
import type { HttpClient, HttpRequest } from '../http/http-client.ts';
import type { Limiter } from '../http/limiter.ts';
import { createReach, type ReachPolicy } from '../http/reach.ts';
import { sendFollowing } from '../http/redirect.ts';
import { type RetryPolicy, withRetries } from '../http/retry.ts';

/** One request to a file server. */
export interface ServerRequest {
  method: HttpRequest['method'];
  url: URL;
  headers?: Readonly<Record<string, string>>;
  body?: BodySource;
  /** Bytes of the body; undefined for chunked encoding. */
  length?: number | undefined;
  /** SHA-256 of the body in hex, for signers that need it. */
  bodyHash?: string;
  /** Statuses that the caller handles; every other one becomes a TransferError. */
  expect: readonly number[];
  /** For messages, as in `reading "a/b"`. */
  activity: string;
  writing?: boolean;
  /** True: the caller reads the body as a stream. Otherwise it is buffered, up to 1 MiB. */
  streamed?: boolean;
  /** True if the caller is done with each chunk before it requests the next. */
  reusesBuffers?: boolean;
}

export interface ServerResponse {
  status: number;
  headers: IncomingHttpHeaders;
  /** Empty if the body is streamed. */
  bytes: Buffer;
  stream: ByteStream;
  /** False if another server sent the response; messages must not quote it. */
  quotable: boolean;
}

/** Sends requests to one server. Rejects with a TransferError. */
export type FileServer = (request: ServerRequest, signal: AbortSignal) => Promise<ServerResponse>;

/** Authenticates requests, and learns from responses. */
export interface Signer {
  readonly hasCredentials: boolean;
  headers(request: ServerRequest, signal: AbortSignal): Promise<Record<string, string>>;
  /** Learns from an unexpected response; true if a retry would send a different request. */
  learn(status: number, headers: IncomingHttpHeaders, body: Buffer): boolean;
}

export interface FileServerOptions {
  /** Name of the Endpoint. */
  endpoint: string;
  origin: URL;
  client: HttpClient;
  limiter: Limiter;
  retry: RetryPolicy;
  signer: Signer;
  /** Maps a URL to the current server, which a signer may have learnt. Default: unchanged. */
  at?: (url: URL) => URL;
  /** Further hosts that it may redirect to (`createReach`). */
  redirectHosts: readonly string[];
  /** The rules of the Endpoint whose content refers to this server. Default: this is the server of the Endpoint. */
  reach?: ReachPolicy;
  /** Explains the body of a failure; undefined if it explains nothing. */
  readFailure?: (
    status: number,
    body: Buffer,
    headers: IncomingHttpHeaders,
  ) => { quote: string; advice?: Advice } | undefined;
}

const userAgent = 'arc-transfer';
const answerLimit = 1024 * 1024;
const maxRepeats = 2;
const nothing = Buffer.alloc(0);

/** Creates a client for one file server, with credentials, redirects, limits, retries and explained failures. */
export function createFileServer(options: FileServerOptions): FileServer {
  const { client, limiter, origin, signer, at = (url: URL) => url } = options;
  const { reach = createReach({ ...options, origin: () => at(origin) }) } = options;

  /** Sends a request, and again while the signer learns from the response, for example that credentials or another region are required. */
  async function attempt(request: ServerRequest, context: FileContext, signal: AbortSignal) {
    for (let repeated = 0; ; repeated += 1) {
      const next = await httpRequest({ ...request, url: at(request.url) }, signer, signal);
      context.host = at(origin).host;
      const { response, access, refusal } = await sendFollowing(client, next, {
        reach,
        onRequest: (asked, { quotable }) => {
          context.redirectHost = asked.host === next.url.host ? undefined : asked.host;
          context.quotable = quotable;
        },
      });
      context.refusal = refusal;
      const { status, headers, body } = response;
      const expected = request.expect.includes(status);
      const streamed = expected && request.streamed === true;
      const bytes = streamed ? nothing : ((await readBody(body, answerLimit)) ?? nothing);
      if (
        status >= 300 &&
        repeated < maxRepeats &&
        access.credentials &&
        signer.learn(status, headers, bytes)
      ) {
        body.destroy();
        continue;
      }
      const { quotable } = access;
      if (expected) return { status, headers, bytes, stream: body, quotable };
      const said = quotable ? explainBody(options, status, bytes, headers) : undefined;
      throw recordSlowDown(fileStatusFailure(context, status, headers, said?.quote, said?.advice), status);
    }
  }

  /** Applies the wait that the failure asks for to further requests. */
  function recordSlowDown(failure: TransferError, status: number): TransferError {
    const { baseMs, maxRetryAfterMs } = options.retry;
    if (status === 429 || status === 503)
      limiter.slowDown(Math.min(failure.retryAfterMs ?? baseMs, maxRetryAfterMs));
    return failure;
  }

  return (request, signal) => {
    const { activity, writing = false } = request;
    const { hasCredentials } = signer;
    const context: FileContext = {
      endpoint: options.endpoint,
      host: origin.host,
      activity,
      writing,
      hasCredentials,
    };
    return withRetries({ policy: options.retry, signal }, async () => {
      try {
        // An upload may wait for a download from the same host, so it must not occupy the slot that the download needs.
        if (request.body === undefined)
          return await limiter.run(signal, () => attempt(request, context, signal));
        await limiter.pass(signal);
        return await attempt(request, context, signal);
      } catch (caught) {
        if (signal.aborted) throw abortError(signal);
        throw fileNetworkFailure(context, caught);
      }
    });
  };
}

function explainBody(
  { endpoint, readFailure }: FileServerOptions,
  status: number,
  body: Buffer,
  headers: IncomingHttpHeaders,
) {
  const refusal = certificateRefusal(status, body, endpoint);
  if (refusal === undefined) return readFailure?.(status, body, headers);
  return { quote: '', advice: { reason: 'config', text: refusal } as const };
}

async function httpRequest(
  request: ServerRequest,
  signer: Signer,
  signal: AbortSignal,
): Promise<HttpRequest> {
  const { method, url, body, length } = request;
  const headers: Record<string, string> = { 'user-agent': userAgent, ...request.headers };
  if (length !== undefined) headers['content-length'] = String(length);
  else if (body === undefined && (method === 'PUT' || method === 'POST')) headers['content-length'] = '0';
  return {
    method,
    url,
    headers: { ...headers, ...(await signer.headers({ ...request, headers }, signal)) },
    signal,
    ...(body === undefined ? {} : { body }),
    ...(request.streamed === true ? { streamed: true, reusesBuffers: request.reusesBuffers === true } : {}),
  };
}
