import { X509Certificate } from 'node:crypto';
import * as http from 'node:http';
import * as https from 'node:https';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { TransferError } from '../errors/transfer-error.ts';
import type { TlsSettings } from '../reference/image-address.ts';
import { createDeadline, type Deadline } from './deadline.ts';
import { proxyVariables } from './proxy-env.ts';

/** Deadlines of one request, in milliseconds. */
export interface Timeouts {
  /** The longest a small request (manifest, token, HEAD) may take as a whole, and the longest wait for an answer's head. */
  requestMs: number;
  /** The longest a download may stand still; over that time it has to move at 1 KiB a second at least. */
  idleMs: number;
  /** The longest a registry may take for one chunk of an upload, and to answer after the last: it hashes and moves the blob. */
  commitMs: number;
}

export const defaultTimeouts: Timeouts = { requestMs: 60_000, idleMs: 60_000, commitMs: 300_000 };

/** A body that can be made again for every try. */
export type BodyMaker = () => Uint8Array | AsyncIterable<Uint8Array>;

export interface WireRequest {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT';
  url: URL;
  headers: Readonly<Record<string, string>>;
  body?: BodyMaker;
  /** True if the answer's body is a stream of any length: then only standing still ends it. */
  streamed?: boolean;
  signal: AbortSignal;
}

export interface WireAnswer {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: Readable;
}

/** Sends requests over connections that are kept and bounded. Errors are Node's own, not yet explained. */
export interface Wire {
  send(request: WireRequest): Promise<WireAnswer>;
  close(): void;
}

const mostSockets = 16;
function agentOptions(env: Readonly<Record<string, string | undefined>>): http.AgentOptions {
  return { keepAlive: true, maxSockets: mostSockets, scheduling: 'lifo', proxyEnv: proxyVariables(env) };
}

const eachCertificate = /-----BEGIN CERTIFICATE-----[\s\S]*?(?=-----BEGIN CERTIFICATE-----|$)/g;

/** `ca` as it is; throws a config TransferError unless each certificate in it can be read, which Node would say nothing about. */
function certificates(ca: string): string {
  try {
    for (const pem of ca.match(eachCertificate) ?? [ca]) new X509Certificate(pem);
    return ca;
  } catch (caught) {
    const text =
      'The certificates to trust (spec.tls.caSecretRef of the Endpoint) cannot be read: they must be PEM.';
    throw new TransferError('config', text, { cause: caught });
  }
}

/**
 * Connections to one registry and whatever it redirects to, with the TLS settings of its Endpoint. `env` is where the
 * usual proxy variables are read from. Throws a config TransferError.
 */
export function createWire(
  tls: TlsSettings,
  timeouts: Timeouts,
  env: Readonly<Record<string, string | undefined>> = {},
): Wire {
  const plain = new http.Agent(agentOptions(env));
  const secure = new https.Agent({
    ...agentOptions(env),
    ...(tls.ca === undefined ? {} : { ca: certificates(tls.ca) }),
    rejectUnauthorized: tls.insecureSkipVerify !== true,
  });

  return {
    send: (request) => {
      const encrypted = request.url.protocol === 'https:';
      const options: http.RequestOptions = {
        method: request.method,
        headers: request.headers,
        agent: encrypted ? secure : plain,
        signal: request.signal,
      };
      const outgoing = (encrypted ? https : http).request(request.url, options);
      return exchange(outgoing, request, timeouts);
    },
    close: () => {
      plain.destroy();
      secure.destroy();
    },
  };
}

function exchange(
  outgoing: http.ClientRequest,
  request: WireRequest,
  timeouts: Timeouts,
): Promise<WireAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<WireAnswer>();
  const body = request.body?.();
  const deadline = createDeadline(outgoing);
  outgoing.on('error', reject);
  outgoing.once('response', (incoming) => {
    deadline.answered(incoming);
    if (request.streamed === true) deadline.pace(timeouts.idleMs);
    else if (isStream(body)) deadline.set('no complete answer', timeouts.requestMs);
    // An answer before the body is out means that nobody reads the rest: stop sending once the answer is read.
    if (!outgoing.writableFinished) incoming.once('end', () => outgoing.destroy());
    resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: incoming });
  });
  if (isStream(body)) {
    pipeline(taken(body, deadline, timeouts.commitMs), outgoing).catch(reject);
  } else {
    deadline.set('no complete answer', timeouts.requestMs);
    outgoing.end(body);
  }
  return promise;
}

function isStream(body: ReturnType<BodyMaker> | undefined): body is AsyncIterable<Uint8Array> {
  return body !== undefined && !(body instanceof Uint8Array);
}

/** `body`, with a deadline on the other side for each chunk and for the answer, but none while the body itself is waited for. */
async function* taken(
  body: AsyncIterable<Uint8Array>,
  deadline: Deadline,
  ms: number,
): AsyncIterable<Uint8Array> {
  for await (const chunk of body) {
    deadline.set('nothing was taken', ms);
    yield chunk;
    deadline.clear();
  }
  deadline.set('nothing was answered', ms);
}

/** The whole body, of at most `limit` bytes; undefined if it is longer (the rest is not read). */
export async function readBody(body: Readable, limit: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limit) {
      body.destroy();
      return undefined;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
