import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type AuthMode, createAccess } from './access.ts';
import { type Contents, Refusal } from './contents.ts';
import { createFaults, type Fault, type FaultRule, type Faults } from './faults.ts';
import { errorReply, jsonReply, type Reply, sendReply } from './reply.ts';
import { catalog, createRoutes } from './routes.ts';

export interface RegistryOptions {
  /** Default: `basic` if a user name is given, else `none`. */
  auth?: AuthMode;
  username?: string;
  password?: string;
  /** Default true. */
  referrersApi?: boolean;
  gitlabFallback?: boolean;
  /** Entries per page of the referrers list; default 100. */
  referrersPage?: number;
  host?: string;
  /** Default: any free port. */
  port?: number;
  faults?: readonly FaultRule[];
  /** PEM key and certificate: served by https. */
  tls?: { key: string; cert: string };
}

/** A request as it was received. `authorized`: it carried an Authorization header. */
export interface RequestRecord {
  method: string;
  path: string;
  status: number;
  authorized: boolean;
}

/** A running registry. */
export interface Registry {
  /** `http://127.0.0.1:<port>`. */
  url: string;
  /** `127.0.0.1:<port>`. */
  host: string;
  contents: Contents;
  faults: Faults;
  /** The last 10,000 requests, the oldest first. */
  requests: RequestRecord[];
  /** How many of them fit. */
  count(method: string, path?: RegExp): number;
  revokeTokens(): void;
  close(): Promise<void>;
}

const mostRecords = 10_000;
const longestBody = 256 * 1024 * 1024;
const repositoryPath = /^\/v2\/(.+?)\/((?:blobs|manifests|referrers|tags)\/.*)$/;

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > longestBody) throw new Refusal(413, 'SIZE_INVALID', `more than ${longestBody} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function faultReply(fault: Fault): Reply | undefined {
  if (fault.kind === 'redirect') return { status: 307, headers: { location: fault.to } };
  if (fault.kind !== 'status') return undefined;
  const headers: Record<string, string> =
    fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter };
  return errorReply(fault.status, 'INJECTED', fault.message ?? 'an injected fault', headers);
}

/** Starts an in-memory OCI registry on loopback. For demonstrations and tests: everything is gone with the process. */
export async function startRegistry(options: RegistryOptions = {}): Promise<Registry> {
  const { username = '', password = '', host: address = '127.0.0.1' } = options;
  const access = createAccess({
    auth: options.auth ?? (username === '' ? 'none' : 'basic'),
    username,
    password,
  });
  const contents: Contents = new Map();
  const faults = createFaults(options.faults);
  const routes = createRoutes({
    contents,
    referrersApi: options.referrersApi ?? true,
    gitlabFallback: options.gitlabFallback ?? false,
    referrersPage: options.referrersPage ?? 100,
  });
  const requests: RequestRecord[] = [];
  let origin = '';

  function token(request: IncomingMessage, url: URL): Reply {
    const value = access.issue(request.headers.authorization, url.searchParams.getAll('scope'));
    return value === undefined
      ? errorReply(401, 'UNAUTHORIZED', 'wrong credentials')
      : jsonReply({ token: value, expires_in: 300 });
  }

  async function answer(request: IncomingMessage, url: URL, method: string): Promise<Reply> {
    if (url.pathname === '/token') return token(request, url);
    const [, name = '', rest = ''] = repositoryPath.exec(url.pathname) ?? [];
    const isCatalog = url.pathname === '/v2/_catalog';
    if (name === '' && !isCatalog)
      return url.pathname === '/v2/' ? jsonReply({}) : errorReply(404, 'NAME_UNKNOWN', 'no such route');
    const actions = method === 'GET' || method === 'HEAD' ? 'pull' : 'pull,push';
    const scope = isCatalog ? 'registry:catalog:*' : `repository:${name}:${actions}`;
    const challenge = access.challenge(request.headers.authorization, scope, origin);
    if (challenge !== undefined)
      return errorReply(401, 'UNAUTHORIZED', 'authentication required', { 'www-authenticate': challenge });
    if (isCatalog) return catalog(contents, url);
    return routes({ method, url, headers: request.headers, body: () => readAll(request) }, name, rest);
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? 'GET';
    const url = new URL(request.url ?? '/', origin);
    const record: RequestRecord = {
      method,
      path: request.url ?? '/',
      status: 0,
      authorized: request.headers.authorization !== undefined,
    };
    requests.push(record);
    if (requests.length > mostRecords) requests.shift();
    const fault = faults.take(method, record.path);
    if (fault?.kind === 'hang') return;
    if (fault?.kind === 'reset') {
      request.socket.resetAndDestroy();
      return;
    }
    const reply = (fault && faultReply(fault)) ?? (await answer(request, url, method).catch(refused));
    record.status = reply.status;
    // Otherwise the rest of the body would be read as the next request on this connection.
    if (!request.complete) response.setHeader('connection', 'close');
    await sendReply(response, reply, method === 'HEAD', fault);
  }

  const listener: RequestListener = (request, response) => {
    serve(request, response).catch((error: Error) => response.destroy(error));
  };
  const server: Server = options.tls ? createSecureServer(options.tls, listener) : createServer(listener);
  server.listen(options.port ?? 0, address);
  await once(server, 'listening');
  const host = `${address}:${(server.address() as AddressInfo).port}`;
  origin = `${options.tls ? 'https' : 'http'}://${host}`;

  return {
    url: origin,
    host,
    contents,
    faults,
    requests,
    count: (method, path) =>
      requests.filter((each) => each.method === method && (path?.test(each.path) ?? true)).length,
    revokeTokens: access.revokeTokens,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Refusals are answers; anything else is a client that went away or a fault of ours, and says so. */
function refused(caught: unknown): Reply {
  if (caught instanceof Refusal) return errorReply(caught.status, caught.code, caught.message);
  return errorReply(500, 'UNKNOWN', caught instanceof Error ? caught.message : String(caught));
}
