import { once } from 'node:events';
import { Agent, createServer, request, type Server } from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createAuthority } from '../../../base/testing/authority.ts';
import { connectionOf } from '../http/connection.ts';
import { limitUnauthenticatedConnections } from './connection-limits.ts';

const max = 10;
let server: Server;
let ca: string;
let port: number;
let opened: net.Socket[];
beforeEach(async () => {
  opened = [];
  const authority = await createAuthority('serving');
  ca = authority.cert;
  const pair = await authority.issue({ name: 'server' }, { hosts: ['localhost'], use: 'server' });
  server = createServer(pair, (incoming, outgoing) => {
    if (incoming.headers.authorization) connectionOf({ incoming })?.markAuthenticated();
    outgoing.end('yes');
  });
  limitUnauthenticatedConnections(server, max);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as net.AddressInfo).port;
});
afterEach(async () => {
  for (const socket of opened) socket.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Sends a request; resolves with its socket. */
async function ask(agent: Agent, headers: Record<string, string> = {}): Promise<net.Socket> {
  const outgoing = request({ host: '127.0.0.1', servername: 'localhost', port, ca, agent, headers });
  outgoing.end();
  const [answer] = await once(outgoing, 'response');
  const { socket } = answer;
  answer.resume();
  await once(answer, 'end');
  return socket;
}

/** Opens silent connections, one after the other. */
async function flood(count: number, secure: boolean): Promise<net.Socket[]> {
  const made: net.Socket[] = [];
  for (let index = 0; index < count; index++) {
    const to = { host: '127.0.0.1', servername: 'localhost', port, ca };
    const socket = secure ? tls.connect(to) : net.connect(to);
    socket.on('error', () => undefined);
    opened.push(socket);
    await once(socket, secure ? 'secureConnect' : 'connect');
    made.push(socket);
  }
  return made;
}

const closed = (socket: net.Socket) => (socket.closed ? undefined : once(socket, 'close'));

it.each([
  ['with TLS', true],
  ['that never begin TLS', false],
])(
  'a flood of connections %s evicts its own oldest ones, and no authenticated connection',
  async (_how, secure) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const known = await ask(agent, { authorization: 'x' });
    const sockets = await flood(max * 3, secure);
    // The authenticated connection is skipped once; the youngest connections remain.
    await Promise.all(sockets.slice(0, max * 2).map((socket) => socket.resume() && closed(socket)));
    expect(await ask(agent)).toBe(known);
    expect(known.destroyed).toBe(false);
    expect(sockets.slice(-max + 1).every(({ destroyed }) => !destroyed)).toBe(true);
    const newcomer = new Agent();
    await ask(newcomer);
    agent.destroy();
    newcomer.destroy();
  },
);

it('closed connections no longer count', async () => {
  for (const socket of await flood(max, true)) {
    socket.resume().end();
    await closed(socket);
  }
  const sockets = await flood(max, true);
  await ask(new Agent());
  expect(sockets.slice(1).every(({ destroyed }) => !destroyed)).toBe(true);
});
