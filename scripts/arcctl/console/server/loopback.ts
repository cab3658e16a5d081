import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Attempts: another program may occupy a free port on the other address. */
const mostAttempts = 10;
/** Errors of `listen` on a machine without IPv6. */
const withoutIPv6 = ['EADDRNOTAVAIL', 'EAFNOSUPPORT'];

/**
 * Listens on the same port of 127.0.0.1 and ::1. Browsers resolve names below `localhost` to both and try ::1 first: otherwise a server of
 * another local user there would receive the dashboard's token and cookie. A machine without IPv6 gets one server. `port`: 0 for any free
 * port. Rejects with the error of `listen`.
 */
export async function listenOnLoopback(create: () => Server, port: number): Promise<[Server, ...Server[]]> {
  for (let attempt = 1; ; attempt += 1) {
    const first = create().listen(port, '127.0.0.1');
    await once(first, 'listening');
    const second = create().listen(portOf(first), '::1');
    try {
      await once(second, 'listening');
      return [first, second];
    } catch (caught) {
      const { code = '' } = caught as NodeJS.ErrnoException;
      if (withoutIPv6.includes(code)) return [first];
      first.close();
      if (port !== 0 || code !== 'EADDRINUSE' || attempt === mostAttempts) throw caught;
    }
  }
}

/** Returns the port of a server. */
export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
