import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import { ConnectTimeoutError, connectLimitMs } from '#shared/base/async';

/**
 * Applies a connect timeout of 2 s to connections to these ports, so that calls fail over to another member. grpc-js has no connect timeout,
 * and packets to a dead member are dropped. The returned function removes the timeout.
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
  const onTimeout = () => {
    const text = `no connection to ${peer} within ${connectLimitMs / 1000} s`;
    if (socket.connecting) socket.destroy(new ConnectTimeoutError(text));
  };
  // After a pause of the process, timers run before the 'connect' event of an established connection.
  const timer = setTimeout(() => setImmediate(onTimeout), connectLimitMs);
  socket.once('connect', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
}
