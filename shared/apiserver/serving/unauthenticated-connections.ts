import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import { isAuthenticated } from '../authentication/connection.ts';

/**
 * Connections over which nobody has said yet who they are: at most `max`, the oldest make room. Whoever has been
 * authenticated keeps theirs, so that a flood of connections, idle or half-open, ends nobody's but its own.
 */
export function limitUnauthenticatedConnections(server: Server, max: number): void {
  const strangers = new Map<string, Socket>();

  const enter = (socket: Socket) => {
    const key = `${socket.remoteAddress} ${socket.remotePort}`;
    const isNew = !strangers.has(key);
    // First the bare connection, then the one with TLS on top of it.
    strangers.set(key, socket);
    if (isNew) socket.once('close', () => strangers.delete(key));
    if (strangers.size > max) makeRoom();
  };

  const makeRoom = () => {
    for (const [key, socket] of strangers) {
      if (strangers.size <= max) return;
      strangers.delete(key);
      if (!isAuthenticated(socket)) socket.destroy();
    }
  };

  server.on('connection', enter);
  server.on('secureConnection', enter);
}
