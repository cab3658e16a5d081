import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';

type Connection = Socket & { secureConnecting?: boolean };

/** True until the connection is established, TLS handshake included. */
export function isConnecting(socket: Connection): boolean {
  return socket.connecting || socket.secureConnecting === true;
}

/** Calls `then` when a pending connection is established. */
export function onceConnected(socket: Connection, then: () => void): void {
  socket.once('secureConnecting' in socket ? 'secureConnect' : 'connect', then);
}

/** Calls `then` once the request has an established connection: a new connection, or at once a kept-alive one. */
export function whenConnected(request: ClientRequest, then: () => void): void {
  request.once('socket', (socket) => {
    if (isConnecting(socket)) onceConnected(socket, then);
    else then();
  });
}
