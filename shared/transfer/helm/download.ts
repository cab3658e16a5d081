import type { EndpointCredentials } from '../credentials/credentials.ts';
import { credentialsFor } from '../credentials/credentials.ts';
import { type FailureReason, stopped, TransferError } from '../errors/transfer-error.ts';
import { type HttpResponse, readBody } from '../http/http-client.ts';
import { isSameServer, sendFollowing } from '../http/redirect.ts';
import { tlsProblem } from '../http/request-failures.ts';
import { parseRetryAfter, withRetries } from '../http/retry.ts';
import type { Session } from '../oci/session.ts';
import { digestOf } from '../reference/digest.ts';
import type { TlsSettings } from '../reference/image-address.ts';

/** A file to read into memory. */
export interface Download {
  url: URL;
  /** For messages, such as `index https://...`. */
  what: string;
  maxBytes: number;
  /** `sha256:<hex>` that it must have. */
  expected?: string;
  /** True: where there is none, or it may not be read, the result is undefined. */
  optional?: boolean;
}

export interface DownloaderOptions {
  /** Name of the Endpoint, for messages. */
  endpoint: string;
  tls: TlsSettings;
  session: Session;
  /** The credentials for a URL, if its server may have them. */
  credentialsOf: (url: URL) => EndpointCredentials | undefined;
}

/** Reads a file; undefined if it is optional and absent. Rejects with a TransferError. */
export type Downloader = (download: Download, signal: AbortSignal) => Promise<Buffer | undefined>;

const progressBytes = 1024 * 1024;

/**
 * A reader of files of HTTP servers. It goes on where an interrupted answer ended, if the server tells versions apart (ETag), follows
 * redirects, without credentials where they lead to another server, and never from https to http.
 */
export function createDownloader({ endpoint, tls, session, credentialsOf }: DownloaderOptions): Downloader {
  const client = session.client(tls);

  return async (download, signal) => {
    const { url, what, maxBytes, expected, optional } = download;
    const authorization = authorizationOf(credentialsOf(url), url, endpoint, tls);
    const context = { endpoint, what, host: url.host, hasCredentials: authorization !== undefined };
    let [chunks, length, before]: [Buffer[], number, number] = [[], 0, 0];
    let version: string | undefined;

    async function request(): Promise<HttpResponse> {
      const headers: Record<string, string> = { 'user-agent': 'arc-transfer', 'accept-encoding': 'identity' };
      if (authorization !== undefined) headers.authorization = authorization;
      if (length > 0 && version !== undefined)
        Object.assign(headers, { range: `bytes=${length}-`, 'if-range': version });
      const { response } = await sendFollowing(
        client,
        { method: 'GET', url, headers, signal, streamed: true },
        {
          trusted: (next) => isSameServer(url, next),
          allowed: (next) => next.protocol === 'https:' || url.protocol === 'http:',
        },
      );
      return response;
    }

    async function keep(body: HttpResponse['body']): Promise<void> {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        length += chunk.length;
        chunks.push(chunk);
        if (length <= maxBytes) continue;
        body.destroy();
        throw new TransferError('permanent', `The ${what} has more than ${maxBytes} bytes, and is not read.`);
      }
    }

    /** False if there is no such file. */
    async function attempt(): Promise<boolean> {
      before = length;
      const { status, headers, body } = await request();
      if (status !== 200 && status !== 206) {
        await readBody(body, 64 * 1024);
        if (optional === true && [403, 404, 410].includes(status)) return false;
        throw refused(context, status, headers['retry-after']);
      }
      if (status === 200) [chunks, length] = [[], 0];
      else if (!headers['content-range']?.startsWith(`bytes ${length}-`)) {
        body.destroy();
        throw new TransferError(
          'retryable',
          `Server ${url.host} sent another part of the ${what} than was asked for.`,
        );
      }
      version = headers.etag?.startsWith('"') ? headers.etag : undefined;
      await keep(body);
      return true;
    }

    const progressed = (): boolean => length - before >= progressBytes;
    const found = await withRetries({ policy: session.retry, signal, progressed }, async () => {
      try {
        return await session.limiter(url.origin).run(signal, attempt);
      } catch (caught) {
        if (signal.aborted) throw stopped(signal);
        throw caught instanceof TransferError ? caught : unreachable(context, caught);
      }
    });
    if (!found) return undefined;
    const bytes = Buffer.concat(chunks);
    if (expected === undefined || digestOf(bytes) === expected) return bytes;
    const message = `The ${what} of ${url.host} is not the one that the index names: its digest is ${digestOf(bytes)}, and ${expected} is expected. It was not kept.`;
    throw new TransferError('permanent', message);
  };
}

function authorizationOf(
  given: EndpointCredentials | undefined,
  url: URL,
  endpoint: string,
  tls: TlsSettings,
): string | undefined {
  const credentials = credentialsFor(given, url.host, '');
  if (credentials.kind === 'none') return undefined;
  if (url.protocol !== 'https:' && tls.plainHTTP !== true) {
    const fix = 'use https, or set spec.tls.plainHTTP if everybody on the way may read them';
    throw new TransferError(
      'config',
      `Endpoint "${endpoint}" has credentials, which are not sent to ${url.host} without TLS: ${fix}.`,
    );
  }
  if (credentials.kind !== 'basic') return `Bearer ${credentials.token}`;
  return `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`;
}

interface Context {
  endpoint: string;
  what: string;
  host: string;
  hasCredentials: boolean;
}

function refused(
  { endpoint, what, host, hasCredentials }: Context,
  status: number,
  retryAfter: string | undefined,
): TransferError {
  const [reason, text] = advice(status, endpoint, hasCredentials);
  const retryAfterMs = parseRetryAfter(retryAfter, Date.now());
  const message = `Server ${host} answered ${status} for the ${what}: ${text}.`;
  return new TransferError(reason, message, retryAfterMs === undefined ? {} : { retryAfterMs });
}

function advice(status: number, endpoint: string, hasCredentials: boolean): [FailureReason, string] {
  const secret = hasCredentials
    ? `check the Secret of Endpoint "${endpoint}"`
    : `Endpoint "${endpoint}" has no credentials for it`;
  if (status === 401) return ['auth', `it asks for other credentials; ${secret}`];
  if (status === 403) return ['denied', `it may not be read; ${secret}`];
  if (status === 404 || status === 410)
    return ['permanent', `it does not exist; check remoteURL of Endpoint "${endpoint}"`];
  if (status === 429) return ['retryable', 'it limits the rate of requests; retry later'];
  if (status === 408 || status >= 500) return ['retryable', 'it has an internal problem; retry later'];
  if (status >= 300 && status < 400) return ['permanent', 'it redirects in a way that cannot be followed'];
  return ['permanent', 'it does not accept the request'];
}

function unreachable({ endpoint, what, host }: Context, caught: unknown): TransferError {
  const code = caught instanceof Error && 'code' in caught ? String(caught.code) : '';
  const detail = caught instanceof Error ? caught.message : String(caught);
  const where = `Server ${host} could not be reached for the ${what}`;
  const problem = tlsProblem(caught, endpoint);
  if (problem !== undefined) return new TransferError('config', `${where}: ${problem}.`, { cause: caught });
  if (code === 'ERR_ADDRESS_DENIED')
    return new TransferError('config', `${where}: ${detail}.`, { cause: caught });
  const check = `check remoteURL of Endpoint "${endpoint}", the network and the server`;
  return new TransferError('retryable', `${where}: ${code || 'no connection'} (${detail}); ${check}.`, {
    cause: caught,
  });
}
