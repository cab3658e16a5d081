import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** The connection of a request, with details that `Request` lacks. */
export interface Connection {
  /**
   * Header values by lower-case name, one entry per header line. `Request` joins repeated headers with commas, which group names and
   * extra values may contain.
   */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  /** The client certificate, if any. The handshake proved possession of its key; its issuer is not verified. */
  readonly certificate: X509Certificate | undefined;
  /** The peer's IP address. */
  readonly address: string;
  readonly socket: Socket;
  /** True once a request over this connection was authenticated. */
  readonly isAuthenticated: boolean;
  markAuthenticated(): void;
  /** True once a front proxy has sent a request over this connection, which then carries requests of many users. */
  readonly isProxy: boolean;
  markProxy(): void;
}

/** Returns the connection from the environment that @hono/node-server passes to handlers; undefined for any other environment. */
export function connectionOf(env: unknown): Connection | undefined {
  const incoming = (env as { incoming?: IncomingMessage } | undefined)?.incoming;
  if (incoming?.socket === undefined) return undefined;
  const { socket } = incoming;
  let headers: Connection['headers'] | undefined;
  return {
    address: socket.remoteAddress ?? '',
    socket,
    get isAuthenticated() {
      return isAuthenticated(socket);
    },
    markAuthenticated: () => void authenticatedSockets.add(socket),
    get isProxy() {
      return isProxy(socket);
    },
    markProxy: () => void proxySockets.add(socket),
    get headers() {
      headers ??= distinct(incoming.rawHeaders);
      return headers;
    },
    get certificate() {
      return certificateOf(socket);
    },
  };
}

const authenticatedSockets = new WeakSet<Socket>();
const proxySockets = new WeakSet<Socket>();

export function isAuthenticated(socket: Socket): boolean {
  return authenticatedSockets.has(socket);
}

/** True once a front proxy has sent a request over this connection. */
export function isProxy(socket: Socket): boolean {
  return proxySockets.has(socket);
}

/** Like IncomingMessage.headersDistinct, but as a Map, because a header may be named `__proto__`. */
function distinct(raw: readonly string[]): Map<string, string[]> {
  const headers = new Map<string, string[]>();
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    const value = raw[index + 1] ?? '';
    const known = headers.get(name);
    if (known) known.push(value);
    else headers.set(name, [value]);
  }
  return headers;
}

/** Null: no client certificate. Renegotiation is off, so the certificate of a connection never changes. */
const certificates = new WeakMap<Socket, X509Certificate | null>();

/**
 * Does not use `socket.authorized`, which is true for a TLS 1.3 client that resumes a session without a certificate and does not tell which
 * of several authorities issued the certificate.
 */
function certificateOf(socket: Socket): X509Certificate | undefined {
  const known = certificates.get(socket);
  if (known !== undefined) return known ?? undefined;
  if (!(socket instanceof TLSSocket)) return undefined;
  const certificate = socket.getPeerX509Certificate();
  const isPresent = certificate !== undefined && certificate.raw.length > 0;
  certificates.set(socket, isPresent ? certificate : null);
  return isPresent ? certificate : undefined;
}

/**
 * Returns every value of a header (lower-case name) in order, decoded as UTF-8: names of users and groups are UTF-8, and Node decodes
 * headers as Latin-1.
 */
export function headerValues(
  request: IncomingRequest,
  connection: Connection | undefined,
  name: string,
): readonly string[] {
  if (connection) return (connection.headers.get(name) ?? []).map(utf8);
  const single = request.headers.get(name);
  return single === null ? [] : [utf8(single)];
}

/** Returns the names of all headers in lower case. */
export function headerNames(request: IncomingRequest, connection: Connection | undefined): string[] {
  return [...(connection ?? request).headers.keys()];
}

function utf8(value: string): string {
  return Buffer.from(value, 'latin1').toString('utf8');
}

/** `X-Remote-Extra-Acme.com%2fProject` → `acme.com/project`: keys are percent-encoded, because header names cannot contain `/`. */
export function extraKey(header: string, prefix: string): string {
  const key = header.slice(prefix.length).toLowerCase();
  try {
    return decodeURIComponent(key);
  } catch {
    return key; // like Go's unescapeExtraKey, which keeps an invalid escape
  }
}

/** The subset of `Request` that the server reads, and that an in-process call provides. */
export interface IncomingRequest {
  readonly method: string;
  /** Absolute URL. */
  readonly url: string;
  readonly headers: Pick<Headers, 'get' | 'keys'>;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Null: no body. */
  readonly body: AsyncIterable<Uint8Array> | null;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** Returns the media type of the body in lower case, without parameters; '' without a Content-Type. */
export function bodyType(request: IncomingRequest): string {
  const header = (request.headers.get('content-type') ?? '').trim().toLowerCase();
  return header.split(';')[0]?.trim() || header;
}

/** A parameter of RFC 7231: token "=" ( token / quoted-string ). */
const parameter = /^[\w!#$%&'*+.^`|~-]+=([\w!#$%&'*+.^`|~-]+|"[^"]*")$/;

/** Like bodyType, but returns the whole header, which equals no type, if a parameter is malformed. */
export function parsedBodyType(request: IncomingRequest): string {
  const header = request.headers.get('content-type') ?? '';
  const [, ...parameters] = header.split(';').map((part) => part.trim());
  if (parameters.at(-1) === '') parameters.pop();
  return parameters.every((each) => parameter.test(each)) ? bodyType(request) : header;
}
