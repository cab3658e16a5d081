import { once } from 'node:events';
import net from 'node:net';

/** A relay to a server, which counts what is sent to that, and can end all connections. */
export interface Relay {
  /** `127.0.0.1:<port>`. */
  host: string;
  /** Bytes sent to the server so far, heads of requests included. */
  sent(): number;
  /** Calls `then` once as many have been sent. */
  at(bytes: number, then: () => void): void;
  /** Ends all connections there are; new ones can be made. */
  cut(): void;
  close(): Promise<void>;
}

/** Starts one on loopback for the server at `host`. */
export async function startRelay(host: string): Promise<Relay> {
  const [name, port] = host.split(':');
  const open = new Set<net.Socket>();
  let sent = 0;
  let waiting: { bytes: number; then: () => void } | undefined;
  function count(bytes: number): void {
    sent += bytes;
    if (waiting === undefined || sent < waiting.bytes) return;
    const { then } = waiting;
    waiting = undefined;
    then();
  }
  const server = net.createServer((client) => {
    const target = net.connect(Number(port), name);
    client.on('data', ({ length }) => count(length));
    for (const [from, to] of [
      [client, target],
      [target, client],
    ] as const) {
      open.add(from);
      from.on('error', () => to.destroy());
      from.once('close', () => {
        open.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of open) socket.resetAndDestroy();
  };
  return {
    host: `127.0.0.1:${(server.address() as net.AddressInfo).port}`,
    sent: () => sent,
    at(bytes, then) {
      waiting = { bytes, then };
    },
    cut,
    async close() {
      const closed = once(server.close(), 'close');
      cut();
      await closed;
    },
  };
}
