import { once } from 'node:events';
import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import { stallTimeoutMs } from './connection-limits.ts';

type Fetch = (request: Request, env: object) => Response | Promise<Response>;

/** Milliseconds a client may take to close its side. */
const closingMs = 2_000;

/** Bytes of one message of a client. Messages are read and dropped, as kube-apiserver does; a longer one ends the watch with code 1009. */
const maxMessageBytes = 128 * 1024;

/**
 * True for a watch that its client wants over a WebSocket, as browsers and the Java client fabric8 do. Every other request
 * for an upgrade is answered as if it asked for none.
 */
export function isWatchSocket({ method, url = '', headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    /^\/.*[?&]watch(=(1|t|true))?(&|$)/i.test(url) &&
    headers.upgrade?.toLowerCase() === 'websocket'
  );
}

/** The one version of the protocol (RFC 6455), and a key. */
function isHandshake({ headers }: IncomingMessage): boolean {
  const { 'sec-websocket-version': version, 'sec-websocket-key': key = '' } = headers;
  return version === '13' && /^[\w+/]{22}==$/.test(key);
}

/**
 * Serves watches over WebSockets. `fetch` gets the same request as without one; each line of its answer becomes a text
 * message, as kube-apiserver sends them. A watch that is refused gets a plain HTTP answer, before the protocol is switched. The connection
 * of a client that takes nothing for `ms` ends.
 */
export function serveWatchSockets(server: Server, fetch: Fetch, ms = stallTimeoutMs): { cut(): void } {
  const open = new Set<Duplex>();
  // @types/ws does not know `closeTimeout` yet.
  const options: ServerOptions & { closeTimeout: number } = {
    noServer: true,
    clientTracking: false,
    maxPayload: maxMessageBytes,
    skipUTF8Validation: true,
    closeTimeout: closingMs,
    handleProtocols: chooseProtocol,
  };
  const upgrades = new WebSocketServer(options);
  server.on('upgrade', (incoming: IncomingMessage, socket: TLSSocket, early: Buffer) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    // The `close` that follows ends the watch.
    socket.on('error', () => socket.destroy());
    const accept = () =>
      new Promise<WebSocket | undefined>((resolve) => {
        socket.once('close', () => resolve(undefined));
        upgrades.handleUpgrade(incoming, socket, early, resolve);
      });
    answer({ fetch, incoming, socket, accept, ms }).catch(() => socket.destroy());
  });
  return {
    cut() {
      for (const socket of open) socket.destroy();
    },
  };
}

interface Upgrade {
  fetch: Fetch;
  incoming: IncomingMessage;
  socket: TLSSocket;
  /** Switches protocols; undefined when the handshake failed or the client has gone. */
  accept(): Promise<WebSocket | undefined>;
  /** Milliseconds for which a client may take nothing. */
  ms: number;
}

async function answer({ fetch, incoming, socket, accept, ms }: Upgrade): Promise<void> {
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  // Carries a refusal, and tells the handler when the connection has ended.
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
  // Here, because `ws` takes away the timeout that a socket has before.
  socket.setTimeout(ms, () => {
    if (socket.writableLength > 0) socket.destroy();
  });
  // `ws` has closed the connection with the code that fits; there is nothing to add.
  webSocket.on('error', () => undefined);
  await sendLines(response.body, webSocket, socket, gone.signal);
  webSocket.close(1000);
}

/** The request without the headers of the upgrade. The host does not matter: only path and query are used. */
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

/** A chunk of a watch is one line or several, each with its newline. Waits for a client that reads slowly. */
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

/** Ends the connection after everything that was written has been delivered. */
function endSoon(socket: Duplex): void {
  if (socket.writableEnded) return;
  socket.end();
  const impatient = setTimeout(() => socket.destroy(), closingMs);
  socket.once('close', () => clearTimeout(impatient));
}
