import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import { ConnectTimeoutError, connectLimitMs } from '#shared/base/async';

/**
 * Ends connections to these ports that are not established within 2 s, so that calls go to another member or over a new connection.
 * grpc-js has no such limit, and the address of a member that has died answers nothing. The returned function ends this.
 */
export function limitConnections(ports: readonly number[]): () => void {
  const onSocket = (message: unknown) => {
    if (typeof message !== 'object' || message === null || !('socket' in message)) return;
    const { socket } = message;
    if (!(socket instanceof Socket)) return;
    socket.once('connectionAttempt', (ip: string, port: number) => {
      if (ports.includes(port)) limit(socket, `${ip}:${port}`);
    });
  };
  subscribe('net.client.socket', onSocket);
  return () => unsubscribe('net.client.socket', onSocket);
}

function limit(socket: Socket, peer: string): void {
  const late = () => {
    const text = `no connection to ${peer} within ${connectLimitMs / 1000} s`;
    if (socket.connecting) socket.destroy(new ConnectTimeoutError(text));
  };
  // After a pause of this process its timers run before it sees that the connection is there.
  const timer = setTimeout(() => setImmediate(late), connectLimitMs);
  socket.once('connect', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
}
