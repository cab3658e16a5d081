import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Another program may have a free port of one address at the other. */
const mostAttempts = 10;
/** What `listen` fails with on a machine without IPv6. */
const withoutIPv6 = ['EADDRNOTAVAIL', 'EAFNOSUPPORT'];

/**
 * Listens on one port of 127.0.0.1 and ::1. Browsers resolve names below `localhost` to both and try ::1 first: another local user with a
 * server there would receive the dashboard's token and cookie. A machine without IPv6 has one server. `port`: 0 takes any that is free.
 * Rejects with the error of `listen`.
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

/** The port that a server listens on. */
export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
