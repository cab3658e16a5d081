import http from 'node:http';
import type https from 'node:https';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { limitConnect } from '#shared/async';

/** The part of `fetch` that the client uses. */
export type Fetch = (
  url: string,
  init: {
    method: string;
    headers: Record<string, string>;
    body: string | null;
    signal: AbortSignal;
    redirect: 'manual';
  },
) => Promise<Response>;

/** The same, with headers that come more than once. */
export type NodeFetch = (
  url: string,
  init: Omit<Parameters<Fetch>[1], 'headers'> & { headers: Record<string, string | string[]> },
) => Promise<Response>;

/** An idle connection is closed after this time, before the server does. */
const keepAlive = { keepAlive: true, timeout: 30_000 };
const plain = new http.Agent(keepAlive);

/** Loaded with the first request: TLS is a tenth of what a function does before it is ready. */
let secure: { request: typeof https.request; agent: https.Agent } | undefined;
function tlsParts() {
  const { request, Agent } = process.getBuiltinModule('node:https');
  secure ??= { request, agent: new Agent(keepAlive) };
  return secure;
}

/**
 * A fetch over node:https. The global one waits 10 s for a connection and cannot be given a client certificate, and the dispatchers of
 * client-node are those of another undici. Redirects are not followed.
 *
 * @param limitMs bound of a new connection, TLS handshake included
 * @param agent keeps the connections; default: one for the process
 */
export function nodeFetch(limitMs: number, agent?: http.Agent): NodeFetch {
  return async (url, { method, headers, body, signal }) => {
    const isSecure = url.startsWith('https:');
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    // Node gives the body of a DELETE no length by itself, and the server then takes it for the next request.
    const framed =
      body === null ? headers : { ...headers, 'content-length': String(Buffer.byteLength(body)) };
    const own = isSecure ? tlsParts() : { request: http.request, agent: plain };
    const outgoing = own.request(url, { method, headers: framed, signal, agent: agent ?? own.agent });
    limitConnect(outgoing, limitMs);
    outgoing.on('error', reject).on('response', resolve).end(body);
    const incoming = await promise;
    const status = incoming.statusCode ?? 500;
    const received = new Headers();
    for (const [name, values = []] of Object.entries(incoming.headersDistinct))
      for (const value of values) received.append(name, value);
    const isEmpty = status === 204 || status === 304;
    if (isEmpty) incoming.resume();
    const stream = isEmpty ? null : (Readable.toWeb(incoming) as ReadableStream<Uint8Array<ArrayBuffer>>);
    return new Response(stream, { status, headers: received });
  };
}
