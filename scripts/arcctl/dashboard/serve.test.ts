import { expect, it } from 'vitest';
import { createKubeClient, createTransport } from '#shared/kube';
import { startDashboard } from './serve.ts';

// Nothing listens there: the pages say so.
const access = { server: 'http://127.0.0.1:1', userAgent: 'test' };
const cluster = { api: createKubeClient(access), transport: createTransport(access), server: access.server };

it('listens on loopback, lets in by its address, and says that the cluster is away', async () => {
  const { url, close } = await startDashboard(cluster, { port: 0 });
  const { hostname, origin } = new URL(url);
  expect(hostname).toBe('127.0.0.1');
  const cookie = (await fetch(url)).headers.get('set-cookie')?.split(';')[0] ?? '';
  const answer = await fetch(origin, { headers: { cookie } });
  expect(await answer.text()).toMatch(/class="notice">.*cannot reach the API server/);
  const live = await fetch(`${origin}/live/`, { headers: { cookie } });
  const ended = live.text().catch(() => 'cut');
  await close();
  await ended;
  await expect(fetch(origin)).rejects.toThrow();
});

it('says so when another program listens on the port', async () => {
  const first = await startDashboard(cluster, { port: 0 });
  const port = Number(new URL(first.url).port);
  await expect(startDashboard(cluster, { port })).rejects.toThrow(/EADDRINUSE.*choose another --port/);
  await first.close();
});
