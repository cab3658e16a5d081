import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isAuthenticated } from '../http/connection.ts';

/**
 * Keeps at most `max` connections without an authenticated request: the oldest are closed first. Authenticated connections stay, so that
 * a flood of idle or half-open connections closes only its own.
 */
export function limitUnauthenticatedConnections(server: Server, max: number): void {
  const unauthenticated = new Map<string, Socket>();

  const enter = (socket: Socket) => {
    const key = `${socket.remoteAddress} ${socket.remotePort}`;
    const isNew = !unauthenticated.has(key);
    // Called twice for a connection: with the TCP socket, then with the TLS socket on top of it.
    unauthenticated.set(key, socket);
    if (isNew) socket.once('close', () => unauthenticated.delete(key));
    if (unauthenticated.size > max) makeRoom();
  };

  const makeRoom = () => {
    for (const [key, socket] of unauthenticated) {
      if (unauthenticated.size <= max) return;
      unauthenticated.delete(key);
      if (!isAuthenticated(socket)) socket.destroy();
    }
  };

  server.on('connection', enter);
  server.on('secureConnection', enter);
}

/** As long as kube-apiserver lets a list take in all. */
export const stallTimeoutMs = 60_000;

/**
 * Ends connections whose client takes nothing of its response for a minute: what is made for it would stay in memory for as long as the
 * client likes, and with a list everything that has been in it. A watch without events waits for nothing.
 */
export function endStalledReaders(server: Server, ms = stallTimeoutMs): void {
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    // Any byte that the client takes begins the time anew.
    response.setTimeout(ms, () => {
      if (socket.writableLength > 0) socket.destroy();
    });
  });
}

/** Statuses of what Node's parser refuses; everything else is 400. The same as Node's own. */
const statuses: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** How long, in milliseconds, the client of a malformed request may take to read its answer. */
const lingerMs = 1_000;

/**
 * Answers requests that are not HTTP. Node destroys the connection in the moment in which it writes that answer, and a busy server
 * loses it; here the answer is sent before the connection closes.
 */
export function answerMalformedRequests(server: Server): void {
  const responses = new WeakMap<object, ServerResponse>();
  server.on('request', ({ socket }, response) => {
    responses.set(socket, response);
    response.once('close', () => responses.delete(socket));
  });
  server.on('clientError', (error: Error & { code?: string }, socket: Duplex) => {
    // In the middle of a response another one would be taken for a part of it.
    if (!socket.writable || responses.get(socket)?.headersSent) return void socket.destroy(error);
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => clearTimeout(timer));
    socket.on('error', () => socket.destroy());
    socket.end(`HTTP/1.1 ${statuses[error.code ?? ''] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`);
    socket.resume();
  });
}
