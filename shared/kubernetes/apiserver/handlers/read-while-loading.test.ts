import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer, widget, widgets } from '../testing/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await server.call('POST', widgets, widget('a'));
  // As a store with a cache that is not loaded yet.
  Object.defineProperty(server.store, 'synced', { value: false });
});
afterAll(() => server.close());

it.each(['', '?watch=1', '?resourceVersion=0', '?labelSelector=a'])(
  'refuses to read a whole collection (%j) while it is being loaded, with Retry-After',
  async (query) => {
    const response = await server.fetch(`${widgets}${query}`);
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await response.json()).toMatchObject({
      reason: 'TooManyRequests',
      details: { retryAfterSeconds: 1 },
    });
  },
);

it('serves single objects and pages, but is not ready', async () => {
  expect((await server.call('GET', `${widgets}/a`)).status).toBe(200);
  expect((await server.call('GET', `${widgets}?limit=5`)).body.items).toHaveLength(1);
  const ready = await server.call('GET', '/readyz/watch-cache');
  expect(ready).toMatchObject({ status: 500 });
  expect((await server.call('GET', '/livez')).status).toBe(200);
});
