import { once } from 'node:events';
import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import { stallTimeoutMs } from './connection-limits.ts';

type Fetch = (request: Request, env: object) => Response | Promise<Response>;

/** Milliseconds in which a client must close its side. */
const closeTimeoutMs = 2_000;

/** Limit of a client message, which is discarded as in kube-apiserver. A longer message closes the connection with code 1009. */
const maxMessageBytes = 128 * 1024;

/**
 * Tells whether a request is a watch over a WebSocket, as browsers and the Java client fabric8 send it. Every other upgrade is ignored and
 * the request is served over HTTP.
 */
export function isWatchSocket({ method, url = '', headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    /^\/.*[?&]watch(=(1|t|true))?(&|$)/i.test(url) &&
    headers.upgrade?.toLowerCase() === 'websocket'
  );
}

/** Tells whether a request has the protocol version and a key of RFC 6455. */
function isHandshake({ headers }: IncomingMessage): boolean {
  const { 'sec-websocket-version': version, 'sec-websocket-key': key = '' } = headers;
  return version === '13' && /^[\w+/]{22}==$/.test(key);
}

/**
 * Serves watches over WebSockets. `fetch` receives an ordinary watch request; each line of its response becomes a text message, as in
 * kube-apiserver. A refused watch gets an HTTP response before the protocol switches. A client that reads nothing for `ms` is
 * disconnected.
 */
export function serveWatchSockets(server: Server, fetch: Fetch, ms = stallTimeoutMs): { destroyAll(): void } {
  const open = new Set<Duplex>();
  // @types/ws does not know `closeTimeout` yet.
  const options: ServerOptions & { closeTimeout: number } = {
    noServer: true,
    clientTracking: false,
    maxPayload: maxMessageBytes,
    skipUTF8Validation: true,
    closeTimeout: closeTimeoutMs,
    handleProtocols: chooseProtocol,
  };
  const upgrades = new WebSocketServer(options);
  server.on('upgrade', (incoming: IncomingMessage, socket: TLSSocket, early: Buffer) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    // The 'close' event that follows ends the watch.
    socket.on('error', () => socket.destroy());
    const accept = () =>
      new Promise<WebSocket | undefined>((resolve) => {
        socket.once('close', () => resolve(undefined));
        upgrades.handleUpgrade(incoming, socket, early, resolve);
      });
    serveWatch({ fetch, incoming, socket, accept, ms }).catch(() => socket.destroy());
  });
  return {
    destroyAll() {
      for (const socket of open) socket.destroy();
    },
  };
}

interface Upgrade {
  fetch: Fetch;
  incoming: IncomingMessage;
  socket: TLSSocket;
  /** Switches protocols. Resolves with undefined if the handshake failed or the client has disconnected. */
  accept(): Promise<WebSocket | undefined>;
  /** Milliseconds after which a client that reads nothing is disconnected. */
  ms: number;
}

async function serveWatch({ fetch, incoming, socket, accept, ms }: Upgrade): Promise<void> {
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  // Sends a refusal, and tells the handler when the connection closes.
  const outgoing = new ServerResponse(incoming);
  outgoing.assignSocket(socket);
  if (!isHandshake(incoming)) {
    outgoing.shouldKeepAlive = false;
    outgoing.writeHead(400, { 'Sec-WebSocket-Version': '13' });
    outgoing.end();
    endSoon(socket);
    return;
  }
  const response = await fetch(requestOf(incoming, gone.signal), { incoming, outgoing });
  if (response.status !== 200 || !response.body) {
    outgoing.shouldKeepAlive = false;
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(Buffer.from(await response.arrayBuffer()));
    endSoon(socket);
    return;
  }
  const webSocket = await accept();
  if (!webSocket) return response.body.cancel();
  // Set after the handshake, because `ws` clears the timeout of the socket.
  socket.setTimeout(ms, () => {
    if (socket.writableLength > 0) socket.destroy();
  });
  // `ws` has closed the connection with the matching code already.
  webSocket.on('error', () => undefined);
  await sendLines(response.body, webSocket, socket, gone.signal);
  webSocket.close(1000);
}

/** Returns the request without its upgrade headers. The host is arbitrary: only path and query are used. */
function requestOf({ url = '', headersDistinct }: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    if (/^(connection|upgrade|sec-websocket-)/.test(name)) continue;
    for (const value of values) headers.append(name, value);
  }
  return new Request(`https://localhost${url}`, { headers, signal });
}

/** Chooses the first subprotocol offered that does not carry a bearer token. */
function chooseProtocol(offered: Set<string>): string | false {
  return [...offered].find((each) => !each.startsWith('base64url.bearer.authorization.k8s.io.')) ?? false;
}

/** Sends each line as a message, with backpressure. A chunk holds one or more whole lines. */
async function sendLines(
  body: ReadableStream<Uint8Array>,
  webSocket: WebSocket,
  socket: Duplex,
  signal: AbortSignal,
): Promise<void> {
  for await (const chunk of body) {
    for (let from = 0; from < chunk.byteLength; ) {
      const to = chunk.indexOf(0x0a, from) + 1 || chunk.byteLength;
      if (webSocket.readyState !== webSocket.OPEN) return;
      webSocket.send(chunk.subarray(from, to), { binary: false });
      from = to;
    }
    if (socket.writableNeedDrain) await once(socket, 'drain', { signal });
  }
}

/** Ends the connection after pending writes are delivered. */
function endSoon(socket: Duplex): void {
  if (socket.writableEnded) return;
  socket.end();
  const closeTimer = setTimeout(() => socket.destroy(), closeTimeoutMs);
  socket.once('close', () => clearTimeout(closeTimer));
}
