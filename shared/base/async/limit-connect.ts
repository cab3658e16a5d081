import type { ClientRequest } from 'node:http';
import { isConnecting, onceConnected } from './connected.ts';

/** ms that a new connection may take, TLS handshake included, when its peer is in the same cluster. */
export const connectLimitMs = 2_000;

/** The same for a peer that may be far away: a registry, or the API server of a kubeconfig. */
export const farConnectLimitMs = 5_000;

/** No connection within the limit. `code` is the one of Node's own errors. */
export class ConnectTimeoutError extends Error {
  readonly code = 'ETIMEDOUT';
}

/**
 * Ends `request` with a ConnectTimeoutError unless its connection is established within `ms` of being opened, TLS handshake included.
 * A packet to a pod that has died gets no answer at all, so without this only the deadline of the whole request ends the wait. The time
 * begins with the socket: waiting for a free one of the agent, and a proxy's tunnel, are not part of it.
 */
export function limitConnect(request: ClientRequest, ms: number = connectLimitMs): void {
  request.once('socket', (socket) => {
    if (!isConnecting(socket)) return;
    const late = () => {
      const peer = request.getHeader('host') ?? request.host;
      const text = `no connection to ${peer} within ${ms / 1000} s (TLS handshake included)`;
      if (isConnecting(socket)) request.destroy(new ConnectTimeoutError(text));
    };
    // After a pause of this process its timers run before it reads what has arrived meanwhile.
    const timer = setTimeout(() => setImmediate(late), ms);
    const stop = () => clearTimeout(timer);
    onceConnected(socket, stop);
    request.once('response', stop).once('close', stop);
  });
}
