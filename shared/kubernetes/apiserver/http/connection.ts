import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** The connection of a request: what `Request` does not carry. */
export interface Connection {
  /**
   * Header values as they were sent, under lower-case names. `Request` joins repeated headers with commas, which values (group
   * names, extra values) may contain.
   */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  /** The client's certificate: the handshake proved its key, its issuer is not verified. Undefined without one. */
  readonly certificate: X509Certificate | undefined;
  /** The peer's IP address. */
  readonly address: string;
  readonly socket: Socket;
  /** True once a user was authenticated over this connection. */
  readonly isAuthenticated: boolean;
  markAuthenticated(): void;
  /** True once a front proxy has sent a request over this connection: it carries requests of many users. */
  readonly isProxy: boolean;
  markProxy(): void;
}

/** The connection from the environment that @hono/node-server gives to its handlers; undefined in any other. */
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
      return proxySockets.has(socket);
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

/** As IncomingMessage.headersDistinct, in a Map: a header may be named `__proto__`. */
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

/** Null: the client has none. Renegotiation is off, so the certificate of a connection never changes. */
const certificates = new WeakMap<Socket, X509Certificate | null>();

/**
 * `socket.authorized` is not used: it is true for a TLS 1.3 client that resumes a session without a certificate, and it does not
 * show which of several authorities issued the certificate.
 */
function certificateOf(socket: Socket): X509Certificate | undefined {
  const known = certificates.get(socket);
  if (known !== undefined) return known ?? undefined;
  if (!(socket instanceof TLSSocket)) return undefined;
  const certificate = socket.getPeerX509Certificate();
  const isThere = certificate !== undefined && certificate.raw.length > 0;
  certificates.set(socket, isThere ? certificate : null);
  return isThere ? certificate : undefined;
}

/**
 * Every value of a header (lower-case name) in order. Header bytes reach JavaScript as Latin-1; names of users and groups
 * are UTF-8.
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

/** The names of all headers, lower-case. */
export function headerNames(request: IncomingRequest, connection: Connection | undefined): string[] {
  return [...(connection ?? request).headers.keys()];
}

function utf8(value: string): string {
  return Buffer.from(value, 'latin1').toString('utf8');
}

/** `X-Remote-Extra-Acme.com%2fProject` → `acme.com/project`: header names carry no `/`, hence the escapes. */
export function extraKey(header: string, prefix: string): string {
  const key = header.slice(prefix.length).toLowerCase();
  try {
    return decodeURIComponent(key);
  } catch {
    return key; // as Go's unescapeExtraKey: an invalid escape stands for itself
  }
}

/** The part of a `Request` that the server reads. A call from the same process has no more than this. */
export interface IncomingRequest {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  readonly headers: Pick<Headers, 'get' | 'keys'>;
  /** Aborted when the client has left. */
  readonly signal: AbortSignal;
  /** Null without one. */
  readonly body: AsyncIterable<Uint8Array> | null;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** The media type of the body in lower case, without parameters; '' when the client sends none. */
export function bodyType(request: IncomingRequest): string {
  const header = (request.headers.get('content-type') ?? '').trim().toLowerCase();
  return header.split(';')[0]?.trim() || header;
}

/** RFC 7231: a token, and a token or a text in quotes. */
const parameter = /^[\w!#$%&'*+.^`|~-]+=([\w!#$%&'*+.^`|~-]+|"[^"]*")$/;

/** As bodyType; the whole header where its parameters cannot be read, which no type equals. */
export function parsedBodyType(request: IncomingRequest): string {
  const header = request.headers.get('content-type') ?? '';
  const [, ...parameters] = header.split(';').map((part) => part.trim());
  if (parameters.at(-1) === '') parameters.pop();
  return parameters.every((each) => parameter.test(each)) ? bodyType(request) : header;
}
