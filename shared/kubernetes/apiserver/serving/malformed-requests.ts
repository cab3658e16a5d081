import type { ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { Duplex } from 'node:stream';

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
