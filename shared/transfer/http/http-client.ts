import { X509Certificate } from 'node:crypto';
import * as http from 'node:http';
import * as https from 'node:https';
import * as nodeTls from 'node:tls';
import { failWhenCut, farConnectLimitMs, limitConnect } from '#shared/base/async';
import { TransferError } from '../errors/transfer-error.ts';
import type { TlsSettings } from '../reference/image-address.ts';
import { createAddressGuard, guardFor } from './address-guard.ts';
import { isPublic, loopbackRanges } from './address-ranges.ts';
import type { BodySource, ByteStream } from './body.ts';
import { clientCertificate } from './client-certificate.ts';
import { createDeadline, type Deadline } from './deadline.ts';
import { lendBodies, lentBody } from './lent-body.ts';
import { proxyVariables } from './proxy-env.ts';

/** Deadlines of one request, in milliseconds. */
export interface Timeouts {
  /** For a small request (manifest, token, HEAD) as a whole, and for the head of any response. */
  requestMs: number;
  /** For a download without progress: over this time it must average 1 KiB a second. */
  idleMs: number;
  /** For a registry to accept one chunk of an upload, and to answer after the last one: it hashes and moves the blob. */
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
  /** True if each chunk of that stream is done with before the next one is asked for: a large body then takes less CPU and memory. */
  lent?: boolean;
  /** True if the server must have a public address. */
  publicOnly?: boolean;
  signal: AbortSignal;
}

export interface HttpResponse {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: ByteStream;
  /** True if a public address answered; a proxy hides it. */
  fromPublic: boolean;
}

/** Sends requests over kept-alive connections, of which it has a bounded number. It rejects with Node's own errors. */
export interface HttpClient {
  send(request: HttpRequest): Promise<HttpResponse>;
  close(): void;
}

const maxSockets = 16;
function agentOptions(env: Readonly<Record<string, string | undefined>>): http.AgentOptions {
  return { keepAlive: true, maxSockets: maxSockets, scheduling: 'lifo', proxyEnv: proxyVariables(env) };
}

const eachCertificate = /-----BEGIN CERTIFICATE-----[\s\S]*?(?=-----BEGIN CERTIFICATE-----|$)/g;

/** Returns `ca`. Throws a config TransferError if one of its certificates cannot be read, which Node would not report. */
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
  // arc-transfer runs under Node 22.0 too, which has no such function.
  const builtIn = () => nodeTls.getCACertificates?.('default') ?? nodeTls.rootCertificates;
  return [...(besideBuiltIn ? builtIn() : []), trustedCertificates(ca)];
}

// Whatever names a server, an Endpoint included: a worker reaches nothing that clouds serve credentials at.
const workerGuard = createAddressGuard(loopbackRanges);

/**
 * An HttpClient for one registry and the hosts it redirects to, with the TLS settings of its Endpoint and the proxy variables of `env`. Only
 * what `knows` is true for is shown the client certificate. It reaches no link-local and no metadata address. Throws a config TransferError.
 */
export function createHttpClient(
  tls: TlsSettings,
  timeouts: Timeouts,
  env: Readonly<Record<string, string | undefined>> = {},
  knows: (url: URL) => boolean = () => false,
): HttpClient {
  const plain = new http.Agent(agentOptions(env));
  const trusting = {
    ...agentOptions(env),
    ...(tls.ca === undefined ? {} : { ca: authorities(tls.ca, tls.caBesideBuiltIn) }),
    rejectUnauthorized: tls.insecureSkipVerify !== true,
  };
  const secure = new https.Agent(trusting);
  const certificate = clientCertificate(tls);
  const known = certificate && new https.Agent({ ...trusting, ...certificate });
  for (const agent of [plain, secure, known]) if (agent !== undefined) lendBodies(agent);
  const agentFor = (url: URL): http.Agent => {
    if (url.protocol !== 'https:') return plain;
    return known !== undefined && knows(url) ? known : secure;
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
        // Of a proxy's tunnel, which there is before the request has a socket; nothing else listens to it.
        timeout: farConnectLimitMs,
      };
      const outgoing = (encrypted ? https : http).request(request.url, options);
      limitConnect(outgoing, farConnectLimitMs);
      return exchange(outgoing, request, timeouts);
    },
    close: () => {
      plain.destroy();
      secure.destroy();
      known?.destroy();
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
  /** The body, where it is a stream. */
  let sent: Promise<void> | undefined;
  outgoing.on('error', reject);
  // As one that is reset: it may be another one's next time.
  failWhenCut(outgoing, (cause) => reject(Object.assign(cause, { code: 'ECONNRESET' })));
  outgoing.once('response', (incoming) => {
    deadline.responded(incoming);
    if (request.streamed === true) deadline.pace(timeouts.idleMs);
    else if (isStream(body)) deadline.set('no complete response', timeouts.requestMs);
    // A server that answers before it has the whole body does not read the rest: stop sending once the response is read.
    incoming.once('end', () => outgoing.writableFinished || outgoing.destroy());
    const lent = request.lent === true ? lentBody(incoming) : undefined;
    const { statusCode: status = 0, headers } = incoming;
    const fromPublic = isPublic(incoming.socket.remoteAddress ?? '');
    const answer = { status, headers, body: lent ?? incoming, fromPublic };
    // A server may have all of a body before the body knows that it has ended, and success is that of the whole.
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
 * Sends `body`, with a deadline for the server to accept each chunk and to answer, but none while the body itself is awaited. Rejects when
 * the body fails or the connection ends before all of it is accepted.
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
    // The chunk may be lent: it must have left this process before the next one is asked for.
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
