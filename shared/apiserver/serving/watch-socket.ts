import { once } from 'node:events';
import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { acceptOf, FrameReader, frame, opcode } from './web-socket.ts';

type Fetch = (request: Request, env: object) => Response | Promise<Response>;

/** Milliseconds a client may take to close its side. */
const closingMs = 2_000;

/**
 * True for a watch that its client wants over a WebSocket, as browsers and the Java client fabric8 do; every other upgrade
 * is passed over and the request answered as it stands.
 */
export function isWatchSocket({ method, url = '', headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    /^\/.*[?&]watch(=(1|t|true))?(&|$)/i.test(url) &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['sec-websocket-version'] === '13' &&
    /^[\w+/]{22}==$/.test(headers['sec-websocket-key'] ?? '')
  );
}

/**
 * Answers watches over WebSockets (RFC 6455) by `fetch`, which is asked the same as without: each line becomes a text
 * message, as kube-apiserver sends them. A watch that is refused is answered by HTTP, before the protocol is switched.
 */
export function serveWatchSockets(server: Server, fetch: Fetch): { cut(): void } {
  const open = new Set<Duplex>();
  server.on('upgrade', (incoming: IncomingMessage, socket: TLSSocket, early: Buffer) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    // Whatever broke, the `close` that follows ends the watch; there is nobody left to tell.
    socket.on('error', () => socket.destroy());
    answer(fetch, incoming, socket, early).catch(() => socket.destroy());
  });
  return {
    cut() {
      for (const socket of open) socket.destroy();
    },
  };
}

async function answer(
  fetch: Fetch,
  incoming: IncomingMessage,
  socket: TLSSocket,
  early: Buffer,
): Promise<void> {
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  // Carries a refusal, and tells the handler when the connection is over.
  const outgoing = new ServerResponse(incoming);
  outgoing.assignSocket(socket);
  const response = await fetch(requestOf(incoming, gone.signal), { incoming, outgoing });
  if (response.status === 200 && response.body) {
    switchProtocols(incoming, socket);
    readPast(socket, early);
    await sendLines(response.body, socket, gone.signal);
    if (!socket.writableEnded) socket.write(frame(opcode.close, normalEnd));
  } else {
    outgoing.shouldKeepAlive = false;
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(Buffer.from(await response.arrayBuffer()));
  }
  endSoon(socket);
}

/** The request without what asks for the upgrade. The host does not matter: only path and query are looked at. */
function requestOf({ url = '', headersDistinct }: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    if (/^(connection|upgrade|sec-websocket-)/.test(name)) continue;
    for (const value of values) headers.append(name, value);
  }
  return new Request(`https://localhost${url}`, { headers, signal });
}

/** Of the subprotocols offered the first is taken, except the one that only carries a bearer token. */
function switchProtocols({ headers }: IncomingMessage, socket: Duplex): void {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((each) => each.trim());
  const protocol = offered.find(
    (each) => /^[\w.+-]+$/.test(each) && !each.startsWith('base64url.bearer.authorization.k8s.io.'),
  );
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${acceptOf(headers['sec-websocket-key'] ?? '')}`,
    ...(protocol === undefined ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
}

/** 1000, in network order. */
const normalEnd = Buffer.from([0x03, 0xe8]);
/** 1002. */
const protocolError = Buffer.from([0x03, 0xea]);

/** Pings are answered, a close ends the connection, everything else a client may send is read past. */
function readPast(socket: Duplex, early: Buffer): void {
  const reader = new FrameReader((code, payload) => {
    if (code === opcode.ping) socket.write(frame(opcode.pong, payload));
    if (code === opcode.close) {
      socket.write(frame(opcode.close, payload.subarray(0, 2)));
      endSoon(socket);
    }
  });
  const read = (bytes: Buffer) => {
    if (socket.writableEnded) return;
    try {
      reader.push(bytes);
    } catch {
      // Any failure to read is the client's; this is how the protocol tells it.
      socket.write(frame(opcode.close, protocolError));
      endSoon(socket);
    }
  };
  if (early.byteLength > 0) read(early);
  socket.on('data', read);
}

/** A chunk of a watch is one line or several, each with its newline. Waits for a client that reads slowly. */
async function sendLines(
  body: ReadableStream<Uint8Array>,
  socket: Duplex,
  signal: AbortSignal,
): Promise<void> {
  for await (const chunk of body) {
    const frames: Buffer[] = [];
    for (let from = 0; from < chunk.byteLength; ) {
      const to = chunk.indexOf(0x0a, from) + 1 || chunk.byteLength;
      frames.push(frame(opcode.text, chunk.subarray(from, to)));
      from = to;
    }
    if (socket.writableEnded) return;
    if (!socket.write(Buffer.concat(frames))) await once(socket, 'drain', { signal });
  }
}

/** What was written is still delivered. */
function endSoon(socket: Duplex): void {
  if (socket.writableEnded) return;
  socket.end();
  const impatient = setTimeout(() => socket.destroy(), closingMs);
  socket.once('close', () => clearTimeout(impatient));
}
