import { X509Certificate } from 'node:crypto';
import * as http from 'node:http';
import * as https from 'node:https';
import * as nodeTls from 'node:tls';
import { failWhenCut, farConnectLimitMs, limitConnect } from '#shared/base/async';
import { TransferError } from '../errors/transfer-error.ts';
import type { TlsSettings } from '../reference/address.ts';
import { createAddressGuard, guardFor } from './address-guard.ts';
import { isPublic, loopbackRanges } from './address-ranges.ts';
import type { BodySource, ByteStream } from './body.ts';
import { clientCertificate } from './client-certificate.ts';
import { createDeadline, type Deadline } from './deadline.ts';
import { pooledBody, reuseReadBuffers } from './pooled-body.ts';
import { proxyVariables } from './proxy-env.ts';

/** Deadlines of one request, in milliseconds. */
export interface Timeouts {
  /** For a small request (manifest, token, HEAD) as a whole, and for the headers of any response. */
  requestMs: number;
  /** For a download without progress: over this time it must average 1 KiB a second. */
  idleMs: number;
  /** For a registry to accept one chunk of an upload, and to respond after the last chunk: it hashes and moves the blob. */
  commitMs: number;
}

export const defaultTimeouts: Timeouts = { requestMs: 60_000, idleMs: 60_000, commitMs: 300_000 };

export interface HttpRequest {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'MKCOL' | 'MOVE' | 'PROPFIND';
  url: URL;
  headers: Readonly<Record<string, string>>;
  body?: BodySource;
  /** True if the response is a stream of any length: only a lack of progress ends it. */
  streamed?: boolean;
  /** True if the caller is done with each chunk before it requests the next: buffers are reused, so large bodies take less CPU and memory. */
  reusesBuffers?: boolean;
  /** True if the server must have a public address. */
  publicOnly?: boolean;
  signal: AbortSignal;
}

export interface HttpResponse {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: ByteStream;
  /** True if the response came from a public address; false behind a proxy. */
  fromPublic: boolean;
}

/** Sends requests over a bounded number of keep-alive connections. Rejects with Node's own errors. */
export interface HttpClient {
  send(request: HttpRequest): Promise<HttpResponse>;
  close(): void;
}

const maxSockets = 16;
function agentOptions(env: Readonly<Record<string, string | undefined>>): http.AgentOptions {
  return { keepAlive: true, maxSockets: maxSockets, scheduling: 'lifo', proxyEnv: proxyVariables(env) };
}

const eachCertificate = /-----BEGIN CERTIFICATE-----[\s\S]*?(?=-----BEGIN CERTIFICATE-----|$)/g;

/** Returns `ca`. Throws a config TransferError for an unreadable certificate, which Node would ignore. */
export function trustedCertificates(ca: string): string {
  try {
    for (const pem of ca.match(eachCertificate) ?? [ca]) new X509Certificate(pem);
    return ca;
  } catch (caught) {
    const text =
      'The CA certificates of the Endpoint (spec.tls.caSecretRef) cannot be read: they must be PEM.';
    throw new TransferError('config', text, { cause: caught });
  }
}

function authorities(ca: string, besideBuiltIn = false): string[] {
  // arc-transfer supports Node 22.0, which lacks this function.
  const builtIn = () => nodeTls.getCACertificates?.('default') ?? nodeTls.rootCertificates;
  return [...(besideBuiltIn ? builtIn() : []), trustedCertificates(ca)];
}

// Applies to every server, Endpoints included: a worker must not reach cloud metadata services.
const workerGuard = createAddressGuard(loopbackRanges);

/**
 * Creates an HttpClient for one server and the hosts it redirects to, with the TLS settings of its Endpoint and the proxy variables of
 * `env`. The client certificate is offered only to URLs for which `mayIdentify` is true. Link-local and metadata addresses are denied.
 * Throws a config TransferError.
 */
export function createHttpClient(
  tls: TlsSettings,
  timeouts: Timeouts,
  env: Readonly<Record<string, string | undefined>> = {},
  mayIdentify: (url: URL) => boolean = () => false,
): HttpClient {
  const plain = new http.Agent(agentOptions(env));
  const trusting = {
    ...agentOptions(env),
    ...(tls.ca === undefined ? {} : { ca: authorities(tls.ca, tls.caBesideBuiltIn) }),
    rejectUnauthorized: tls.insecureSkipVerify !== true,
  };
  const secure = new https.Agent(trusting);
  const certificate = clientCertificate(tls);
  const identifying = certificate && new https.Agent({ ...trusting, ...certificate });
  for (const agent of [plain, secure, identifying]) if (agent !== undefined) reuseReadBuffers(agent);
  const agentFor = (url: URL): http.Agent => {
    if (url.protocol !== 'https:') return plain;
    return identifying !== undefined && mayIdentify(url) ? identifying : secure;
  };

  return {
    async send(request) {
      const guard = guardFor(workerGuard, request.url, request.publicOnly);
      guard.check(request.url.hostname);
      const encrypted = request.url.protocol === 'https:';
      const options: http.RequestOptions = {
        method: request.method,
        headers: request.headers,
        agent: agentFor(request.url),
        signal: request.signal,
        lookup: guard.lookup,
        // For the CONNECT of a proxy, which happens before the request has a socket; nothing else listens to this timeout.
        timeout: farConnectLimitMs,
      };
      const outgoing = (encrypted ? https : http).request(request.url, options);
      limitConnect(outgoing, farConnectLimitMs);
      return exchange(outgoing, request, timeouts);
    },
    close: () => {
      plain.destroy();
      secure.destroy();
      identifying?.destroy();
    },
  };
}

function exchange(
  outgoing: http.ClientRequest,
  request: HttpRequest,
  timeouts: Timeouts,
): Promise<HttpResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
  const body = request.body?.();
  const deadline = createDeadline(outgoing);
  /** The pending send, if the body is a stream. */
  let sent: Promise<void> | undefined;
  outgoing.on('error', reject);
  // Handled like a reset: the next attempt may reach another backend.
  failWhenCut(outgoing, (cause) => reject(Object.assign(cause, { code: 'ECONNRESET' })));
  outgoing.once('response', (incoming) => {
    deadline.responded(incoming);
    if (request.streamed === true) deadline.pace(timeouts.idleMs);
    else if (isStream(body)) deadline.set('no complete response', timeouts.requestMs);
    // A server that responds before it has the whole body does not read the rest: stop sending once the response is read.
    incoming.once('end', () => outgoing.writableFinished || outgoing.destroy());
    const pooled = request.reusesBuffers === true ? pooledBody(incoming) : undefined;
    const { statusCode: status = 0, headers } = incoming;
    const fromPublic = isPublic(incoming.socket.remoteAddress ?? '');
    const answer = { status, headers, body: pooled ?? incoming, fromPublic };
    // The server may respond before the body has verified its last bytes, and success requires both.
    if (sent !== undefined && status < 300) sent.then(() => resolve(answer), reject);
    else resolve(answer);
  });
  if (isStream(body)) {
    sent = sendBody(body, outgoing, deadline, timeouts.commitMs);
    sent.catch((caught: unknown) => {
      reject(caught);
      outgoing.destroy();
    });
  } else {
    deadline.set('no complete response', timeouts.requestMs);
    outgoing.end(body);
  }
  return promise;
}

function isStream(body: ReturnType<BodySource> | undefined): body is AsyncIterable<Uint8Array> {
  return body !== undefined && !(body instanceof Uint8Array);
}

/**
 * Sends `body`, with a deadline for the server to accept each chunk and to respond, but none while the body itself is awaited. Rejects when
 * the body fails or the connection closes before the whole body is accepted.
 */
async function sendBody(
  body: AsyncIterable<Uint8Array>,
  outgoing: http.ClientRequest,
  deadline: Deadline,
  ms: number,
): Promise<void> {
  let wake: (() => void) | undefined;
  const proceed = (): void => wake?.();
  outgoing.once('close', proceed);
  for await (const chunk of body) {
    if (outgoing.destroyed) break;
    deadline.set('no data was accepted', ms);
    // The buffer of the chunk may be reused: it must have left this process before the next chunk is requested.
    await new Promise<void>((resolve) => {
      wake = resolve;
      outgoing.write(chunk, proceed);
    });
    deadline.clear();
  }
  if (outgoing.destroyed) throw new Error('the connection ended during the upload');
  deadline.set('no response', ms);
  outgoing.end();
}
