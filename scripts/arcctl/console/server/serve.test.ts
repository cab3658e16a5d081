import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { expect, it } from 'vitest';
import { createKubeClient, createTransport } from '#shared/kubernetes/client';
import { signIn, visit } from '../../testing/visit.ts';
import { startDashboard } from './serve.ts';

// Nothing listens there: the pages say so.
const access = { server: 'http://127.0.0.1:1', userAgent: 'test' };
const hint = (words: string) => `arcctl ${words}`;
const cluster = {
  api: createKubeClient(access),
  transport: createTransport(access),
  server: access.server,
  hint,
};

it('listens on loopback, lets in by its address, and says that the cluster is away', async () => {
  const { url, close } = await startDashboard(cluster, { port: 0 });
  const { origin } = new URL(url);
  const cookie = await signIn(url);
  const live = await visit(`${origin}/api/live/orders`, { headers: { cookie } });
  let text = '';
  for await (const chunk of live.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.includes('event: beat')) break;
  }
  expect(text).toMatch(/event: problem\ndata: .*cannot reach the API server/);
  expect(text).toMatch(/event: beat\ndata: .*problem.*cannot reach the API server/);
  expect(text).not.toContain('event: change');
  const other = await visit(`${origin}/api/live/orders`, { headers: { cookie } });
  const ended = other.text().catch(() => 'cut');
  await close();
  await ended;
  await expect(visit(origin)).rejects.toThrow();
});

it('has a name of its own, so that its cookie goes to no other server of this machine', async () => {
  const both = [await startDashboard(cluster, { port: 0 }), await startDashboard(cluster, { port: 0 })];
  const [first, second] = both.map(({ url }) => new URL(url));
  expect(first?.hostname).toMatch(/^arc-[0-9a-f]{32}\.localhost$/);
  expect(second?.hostname).not.toBe(first?.hostname);
  const answer = await visit(first ?? '');
  // A cookie without Domain is of this one name.
  expect(answer.headers.get('set-cookie')).toMatch(
    /^arc-dashboard=[^;]+; Path=\/; HttpOnly; SameSite=Strict$/,
  );
  for (const name of ['127.0.0.1', 'localhost', second?.hostname]) {
    const other = new URL(first ?? '');
    other.hostname = name ?? '';
    const refused = await visit(other);
    expect([refused.status, refused.headers.get('set-cookie')]).toEqual([421, null]);
  }
  for (const { close } of both) await close();
});

const hasIPv6 = await new Promise<boolean>((resolve) => {
  const server = createTcpServer().on('error', () => resolve(false));
  server.listen(0, '::1', () => server.close(() => resolve(true)));
});

it.skipIf(!hasIPv6)(
  'is at ::1 as well, where browsers look first: no other program can be there',
  async () => {
    const { url, close } = await startDashboard(cluster, { port: 0 });
    const { host, port, pathname, search } = new URL(url);
    const asked = request({
      host: '::1',
      port,
      path: pathname + search,
      headers: { host },
      agent: false,
    }).end();
    const [answer] = await once(asked, 'response');
    expect([answer.statusCode, answer.headers['set-cookie']?.[0]]).toEqual([
      200,
      expect.stringMatching(/^arc-dashboard=/),
    ]);
    answer.resume();
    await once(answer, 'end');
    await close();
    const [refused] = await once(connect(Number(port), '::1'), 'error');
    expect(refused).toMatchObject({ code: 'ECONNREFUSED' });
  },
);

it.skipIf(!hasIPv6)('does not start beside another program at ::1 of its port', async () => {
  const thief = createServer();
  thief.listen(0, '::1');
  await once(thief, 'listening');
  const { port } = thief.address() as AddressInfo;
  await expect(startDashboard(cluster, { port })).rejects.toThrow(/EADDRINUSE.*choose another port/);
  // Nothing is left at 127.0.0.1 either.
  const [refused] = await once(connect(port, '127.0.0.1'), 'error');
  expect(refused).toMatchObject({ code: 'ECONNREFUSED' });
  thief.close();
});

it('says so when another program listens on the port', async () => {
  const first = await startDashboard(cluster, { port: 0 });
  const port = Number(new URL(first.url).port);
  await expect(startDashboard(cluster, { port })).rejects.toThrow(/EADDRINUSE.*choose another port/);
  await first.close();
});

it('keeps address and sign-in of an earlier start', async () => {
  const first = await startDashboard(cluster, { port: 0 });
  const cookie = await signIn(first.url);
  await first.close();
  const again = await startDashboard(cluster, { port: 0, access: first.access });
  expect(again.url).toBe(first.url);
  const session = await visit(new URL('/api/session', again.url), { headers: { cookie } });
  expect(session.status).toBe(200);
  await session.text();
  await again.close();
});

it('takes another port where that of the earlier start is in use', async () => {
  const first = await startDashboard(cluster, { port: 0 });
  const second = await startDashboard(cluster, { port: 0, access: first.access });
  expect(new URL(second.url).port).not.toBe(new URL(first.url).port);
  expect(new URL(second.url).hostname).toBe(new URL(first.url).hostname);
  await first.close();
  await second.close();
});
