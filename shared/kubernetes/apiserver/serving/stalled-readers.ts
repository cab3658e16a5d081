import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';

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
