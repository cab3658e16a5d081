import type { Server } from 'node:https';
import type { Socket } from 'node:net';
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
