import http from 'node:http';
import type https from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { endOnAbort, failWhenCut, limitConnect } from '#shared/base/async';

/** The subset of `Response` that the client uses. Read once, by `text` or as `body`. */
export interface FetchResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
  text(): Promise<string>;
}

/** The subset of `fetch` that the client uses. */
export type Fetch = (
  url: string,
  init: {
    method: string;
    headers: Record<string, string>;
    body: string | null;
    signal: AbortSignal;
    redirect: 'manual';
  },
) => Promise<FetchResponse>;

/** Like Fetch, with repeated headers. */
export type NodeFetch = (
  url: string,
  init: Omit<Parameters<Fetch>[1], 'headers'> & { headers: Record<string, string | string[]> },
) => Promise<FetchResponse>;

/** The idle timeout is shorter than that of the server. */
const keepAlive = { keepAlive: true, timeout: 30_000 };

/** Created lazily, so that commands without requests do not load HTTP. */
let plainAgent: http.Agent | undefined;
function plain(): http.Agent {
  plainAgent ??= new http.Agent(keepAlive);
  return plainAgent;
}

/** Loaded lazily: TLS is a tenth of the startup time of a function. */
let secure: { request: typeof https.request; agent: https.Agent } | undefined;
function tlsParts() {
  if (secure) return secure;
  const { request, Agent } = process.getBuiltinModule('node:https');
  secure = { request, agent: new Agent(keepAlive) };
  return secure;
}

/**
 * Returns a fetch based on node:https. The global fetch has a connect timeout of 10 s and does not support client certificates, and the
 * dispatchers of client-node are incompatible with its undici. Does not follow redirects. Does not return a `Response`, whose streams and
 * headers cost as much as the request itself.
 *
 * @param limitMs connect timeout, including the TLS handshake
 * @param agent default: a shared agent of the process
 */
export function nodeFetch(limitMs: number, agent?: http.Agent): NodeFetch {
  return async (url, { method, headers, body, signal }) => {
    const isSecure = url.startsWith('https:');
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    // Node sends the body of a DELETE without Content-Length, and the server parses it as the next request.
    const framed =
      body === null ? headers : { ...headers, 'content-length': String(Buffer.byteLength(body)) };
    const scheme = isSecure ? tlsParts() : { request: http.request, agent: plain() };
    const outgoing = scheme.request({
      ...placeOf(url),
      method,
      headers: framed,
      agent: agent ?? scheme.agent,
    });
    limitConnect(outgoing, limitMs);
    outgoing.on('error', reject).on('response', resolve);
    failWhenCut(outgoing, reject);
    endOnAbort(outgoing, signal);
    outgoing.end(body);
    return answerOf(await promise);
  };
}

type Server = Pick<http.RequestOptions, 'protocol' | 'hostname' | 'port' | 'auth'>;

/** Cache of parsed addresses. A process nearly always uses one server. */
const servers = new Map<string, Server>();
const maxServers = 16;

/** A server and a path whose characters URL normalization does not change. */
const plainUrl = /^(https?:\/\/[^/?#\\]+)(\/[\w~!$&'()*+,;=:@%/.-]*(?:\?[\w~!$&()*+,;=:@%/?.-]*)?)$/;
/** Possible dot segments, which URL normalization removes. */
const dotSegment = /\/(?:\.|%2e)/i;

function placeOf(url: string): Server & { path: string } {
  const [, origin, path] = plainUrl.exec(url) ?? [];
  if (origin === undefined || path === undefined || dotSegment.test(path)) {
    const { pathname, search } = new URL(url);
    return { ...serverOf(url), path: `${pathname}${search}` };
  }
  const known = servers.get(origin) ?? serverOf(origin);
  if (servers.size >= maxServers) servers.clear();
  servers.set(origin, known);
  return { ...known, path };
}

function serverOf(url: string): Server {
  const { protocol, hostname, port, auth } = urlToHttpOptions(new URL(url));
  return { protocol, hostname, ...(port !== undefined && { port }), ...(auth !== undefined && { auth }) };
}

function answerOf(incoming: http.IncomingMessage): FetchResponse {
  const { statusCode: status = 500, headers } = incoming;
  return {
    ok: status >= 200 && status < 300,
    status,
    headers: { get: (name) => String(headers[name] ?? '') || null },
    body: incoming,
    text: () => readText(incoming),
  };
}

/** Reads the body as UTF-8. Rejects if the connection closes early. */
async function readText(incoming: http.IncomingMessage): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const chunks: Buffer[] = [];
  incoming
    .on('data', (chunk: Buffer) => chunks.push(chunk))
    .on('end', resolve)
    .on('error', reject)
    .on('close', () =>
      reject(incoming.errored ?? new Error('the connection closed before the end of the response')),
    );
  await promise;
  // Outside of the listener: exceeding the maximum string length (512 MiB) throws, which would crash the process there.
  return textOf(chunks);
}

function textOf(chunks: readonly Buffer[]): string {
  const [first] = chunks;
  return (first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks)).toString('utf8');
}
