import http from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { farConnectLimitMs, limitConnect } from '#shared/async';
import type { Fetch } from '../transport.ts';
import type { Signed } from './signer.ts';

export interface ClusterFetchOptions {
  /** Asked before every request. */
  sign(): Promise<Signed>;
  /** Called when the server answers 401. */
  refused(): void;
}

/**
 * A fetch over node:https: the global one cannot be given a client certificate, and the dispatchers of client-node are those of another
 * undici. Redirects are not followed.
 */
export function clusterFetch({ sign, refused }: ClusterFetchOptions): Fetch {
  return async (url, { method, headers, body, signal }) => {
    const { headers: credentials, agent } = await unlessAborted(sign(), signal);
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    const { request } = url.startsWith('https:') ? https : http;
    const outgoing = request(url, { method, headers: { ...headers, ...credentials }, agent, signal });
    limitConnect(outgoing, farConnectLimitMs);
    outgoing.on('error', reject).on('response', resolve).end(body);
    const incoming = await promise;
    const status = incoming.statusCode ?? 500;
    if (status === 401) refused();
    const received = new Headers();
    for (const [name, values = []] of Object.entries(incoming.headersDistinct))
      for (const value of values) received.append(name, value);
    const isEmpty = status === 204 || status === 304;
    if (isEmpty) incoming.resume();
    const stream = isEmpty ? null : (Readable.toWeb(incoming) as ReadableStream<Uint8Array<ArrayBuffer>>);
    return new Response(stream, { status, headers: received });
  };
}

/** Credentials are shared by requests; one that is aborted no longer waits for them. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
