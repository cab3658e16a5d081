import http from 'node:http';
import type https from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { endOnAbort, failWhenCut, limitConnect } from '#shared/base/async';

/** The part of a `Response` that the client uses; read once, by `text` or as `body`. */
export interface Answer {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
  text(): Promise<string>;
}

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
) => Promise<Answer>;

/** The same, with headers that come more than once. */
export type NodeFetch = (
  url: string,
  init: Omit<Parameters<Fetch>[1], 'headers'> & { headers: Record<string, string | string[]> },
) => Promise<Answer>;

/** An idle connection is closed after this time, before the server does. */
const keepAlive = { keepAlive: true, timeout: 30_000 };

/** Made with the first request, as is what follows: a command that asks nothing of a cluster loads no HTTP. */
let plainAgent: http.Agent | undefined;
function plain(): http.Agent {
  plainAgent ??= new http.Agent(keepAlive);
  return plainAgent;
}

/** TLS is a tenth of what a function does before it is ready. */
let secure: { request: typeof https.request; agent: https.Agent } | undefined;
function tlsParts() {
  if (secure) return secure;
  const { request, Agent } = process.getBuiltinModule('node:https');
  secure = { request, agent: new Agent(keepAlive) };
  return secure;
}

/**
 * A fetch over node:https. The global one waits 10 s for a connection and cannot be given a client certificate, and the dispatchers of
 * client-node are those of another undici. Redirects are not followed. Its answer is no `Response`, whose streams and headers take as long as
 * the request itself.
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
    const own = isSecure ? tlsParts() : { request: http.request, agent: plain() };
    const outgoing = own.request({ ...placeOf(url), method, headers: framed, agent: agent ?? own.agent });
    limitConnect(outgoing, limitMs);
    outgoing.on('error', reject).on('response', resolve);
    failWhenCut(outgoing, reject);
    endOnAbort(outgoing, signal);
    outgoing.end(body);
    return answerOf(await promise);
  };
}

type Server = Pick<http.RequestOptions, 'protocol' | 'hostname' | 'port' | 'auth'>;

/** The servers that were asked last: one nearly always, and its address is parsed once. */
const servers = new Map<string, Server>();
const mostServers = 16;

/** A server, and a path of characters that a URL leaves as they are. */
const plainUrl = /^(https?:\/\/[^/?#\\]+)(\/[\w~!$&'()*+,;=:@%/.-]*(?:\?[\w~!$&()*+,;=:@%/?.-]*)?)$/;
/** What a URL may take for a step up or for none. */
const dots = /\/(?:\.|%2e)/i;

function placeOf(url: string): Server & { path: string } {
  const [, origin, path] = plainUrl.exec(url) ?? [];
  if (origin === undefined || path === undefined || dots.test(path)) {
    const { pathname, search } = new URL(url);
    return { ...serverOf(url), path: `${pathname}${search}` };
  }
  const known = servers.get(origin) ?? serverOf(origin);
  if (servers.size >= mostServers) servers.clear();
  servers.set(origin, known);
  return { ...known, path };
}

function serverOf(url: string): Server {
  const { protocol, hostname, port, auth } = urlToHttpOptions(new URL(url));
  return { protocol, hostname, ...(port !== undefined && { port }), ...(auth !== undefined && { auth }) };
}

function answerOf(incoming: http.IncomingMessage): Answer {
  const { statusCode: status = 500, headers } = incoming;
  return {
    ok: status >= 200 && status < 300,
    status,
    headers: { get: (name) => String(headers[name] ?? '') || null },
    body: incoming,
    text: () => readText(incoming),
  };
}

/** The whole body, of UTF-8. Rejects with the error of a connection that ends too early. */
async function readText(incoming: http.IncomingMessage): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const chunks: Buffer[] = [];
  incoming
    .on('data', (chunk: Buffer) => chunks.push(chunk))
    .on('end', resolve)
    .on('error', reject)
    .on('close', () => reject(incoming.errored ?? new Error('the connection ended before the answer did')));
  await promise;
  // Not in a listener: half a gigabyte is too long for a string, and the process would end of that.
  return textOf(chunks);
}

function textOf(chunks: readonly Buffer[]): string {
  const [first] = chunks;
  return (first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks)).toString('utf8');
}
