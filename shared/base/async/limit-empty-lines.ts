import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';

/** Bytes of empty lines before a request line; RFC 9112 (2.2) asks servers to ignore at least one such line. */
const mostBytes = 8;
const refusal = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n';

/**
 * Closes connections that send empty lines instead of a request. Node ignores any number of them, and on a connection that has carried a
 * request each line restarts its timeouts, so the connection would be held for as long as lines arrive.
 */
export function limitEmptyLines(server: Server): void {
  const states = new WeakMap<Socket, { open: number; isBetween: boolean; bytes: number }>();

  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    const state = { open: 0, isBetween: true, bytes: 0 };
    states.set(socket, state);
    socket.on('data', (chunk: Buffer) => {
      if (!state.isBetween) return;
      const begun = chunk.findIndex((byte) => byte !== 0x0d && byte !== 0x0a);
      state.bytes += begun < 0 ? chunk.length : begun;
      if (begun >= 0) state.isBetween = false;
      if (state.bytes <= mostBytes) return;
      socket.write(refusal);
      socket.destroySoon();
    });
  });

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const state = states.get(request.socket);
    if (state === undefined) return;
    state.open += 1;
    const end = () => {
      state.open -= 1;
      // A pipelined request is in progress.
      if (state.open === 0) Object.assign(state, { isBetween: true, bytes: 0 });
    };
    // The body of a request that was answered early may still arrive.
    response.once('close', () => (request.complete ? end() : request.once('end', end)));
  });
}
