import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isAuthenticated } from '../http/connection.ts';

/**
 * Limits connections without an authenticated request to `max`: the oldest are closed first. A flood of idle or half-open connections
 * therefore evicts only itself.
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

/**
 * Longer than the idle timeout of clients (Go: 90 s): the client closes first, and no request races with the server closing its
 * connection.
 */
export const idleTimeoutMs = 120_000;

/** Same as kube-apiserver's request timeout. */
export const stallTimeoutMs = 60_000;

/**
 * Closes connections whose client reads nothing of a pending response for `ms`: the response, and with a list all its objects, would stay
 * in memory. A watch without events has nothing pending.
 */
export function endStalledReaders(server: Server, ms = stallTimeoutMs): void {
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    // Every byte that the client reads restarts the timeout.
    response.setTimeout(ms, () => {
      if (socket.writableLength > 0) socket.destroy();
    });
  });
}

/** Statuses of parser errors, as in Node; every other error is 400. */
const statuses: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** Milliseconds in which the client of a malformed request can read the response. */
const lingerMs = 1_000;

/**
 * Responds to malformed requests before their connection closes. Node destroys the connection right after writing the response, and a busy
 * server loses it.
 */
export function answerMalformedRequests(server: Server): void {
  const responses = new WeakMap<object, ServerResponse>();
  server.on('request', ({ socket }, response) => {
    responses.set(socket, response);
    response.once('close', () => responses.delete(socket));
  });
  server.on('clientError', (error: Error & { code?: string }, socket: Duplex) => {
    // The client would take a second response for a part of the first.
    if (!socket.writable || responses.get(socket)?.headersSent) return void socket.destroy(error);
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => clearTimeout(timer));
    socket.on('error', () => socket.destroy());
    socket.end(`HTTP/1.1 ${statuses[error.code ?? ''] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`);
    socket.resume();
  });
}
