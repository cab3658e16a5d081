import type { ClientRequest } from 'node:http';
import { isConnecting, onceConnected } from './connected.ts';

/** Connect timeout within a cluster, TLS handshake included, ms. */
export const connectLimitMs = 2_000;

/** Connect timeout for remote peers: a registry, or the API server of a kubeconfig; ms. */
export const farConnectLimitMs = 5_000;

/** The connection was not established in time. `code` is that of Node's own errors. */
export class ConnectTimeoutError extends Error {
  readonly code = 'ETIMEDOUT';
}

/**
 * Ends `request` with a ConnectTimeoutError unless its connection, TLS handshake included, is established within `ms` after it was opened.
 * A packet to a dead pod is never answered, so without this limit only the deadline of the whole request ends the wait. The time
 * begins with the socket: it includes neither the wait for a free socket of the agent nor a proxy's tunnel.
 */
export function limitConnect(request: ClientRequest, ms: number = connectLimitMs): void {
  request.once('socket', (socket) => {
    if (!isConnecting(socket)) return;
    const late = () => {
      const peer = request.getHeader('host') ?? request.host;
      const text = `no connection to ${peer} within ${ms / 1000} s (TLS handshake included)`;
      if (isConnecting(socket)) request.destroy(new ConnectTimeoutError(text));
    };
    // After a pause of this process, its timers run before it reads the data that has arrived meanwhile.
    const timer = setTimeout(() => setImmediate(late), ms);
    const stop = () => clearTimeout(timer);
    onceConnected(socket, stop);
    request.once('response', stop).once('close', stop);
  });
}
