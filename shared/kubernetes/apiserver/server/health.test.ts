import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { fc } from '#shared/base/testing';
import { startTestServer } from '../testing/test-server.ts';
import { type HealthCheck, type HealthOptions, health } from './health.ts';

const sound: HealthCheck = { name: 'sound', check: () => undefined };
const broken: HealthCheck = {
  name: 'broken',
  check: async () => {
    throw new ArcError('ServiceUnavailable', 'the password is hunter2');
  },
};
const ending: HealthCheck = { ...broken, name: 'ending', readyOnly: true };

async function ask(path: string, options: Partial<HealthOptions> = {}) {
  const logged: string[] = [];
  const log = (message: string) => logged.push(message);
  const url = new URL(path, 'http://test.invalid');
  const response = await health(url, { checks: [sound, broken, ending], log, ...options });
  return { status: response?.status, text: await response?.text(), logged };
}

describe('health', () => {
  it('shows all checks if one fails, with the reason only in the log', async () => {
    expect(await ask('/readyz')).toEqual({
      status: 500,
      text: '[+]sound ok\n[-]broken failed: reason withheld\n[-]ending failed: reason withheld\nreadyz check failed\n',
      logged: ['health check broken failed', 'health check ending failed'],
    });
    expect((await ask('/livez')).text).not.toContain('ending');
    expect((await ask('/healthz')).text).not.toContain('ending');
  });

  it('leaves out excluded checks, and warns about unknown names', async () => {
    const path = '/readyz?verbose&exclude=broken&exclude=ending&exclude=nonsense';
    expect(await ask(path)).toEqual({
      status: 200,
      text: '[+]sound ok\n[+]broken excluded: ok\n[+]ending excluded: ok\nwarn: some health checks cannot be excluded: no matches for "nonsense"\nreadyz check passed\n',
      logged: [],
    });
    expect(await ask('/readyz?exclude=broken&exclude=ending')).toMatchObject({ status: 200, text: 'ok' });
  });

  it('serves a single check', async () => {
    expect(await ask('/readyz/sound')).toMatchObject({ status: 200, text: 'ok' });
    expect(await ask('/livez/broken')).toMatchObject({
      status: 500,
      text: '[-]broken failed: reason withheld\nlivez check failed\n',
    });
    for (const path of ['/livez/ending', '/readyz/none', '/readyz/sound/more', '/ready', '/']) {
      expect((await ask(path)).status).toBeUndefined();
    }
  });

  it('shows notices in /readyz?verbose, and is still ready', async () => {
    const options = { checks: [sound], notices: () => ['two things are so'] };
    const verbose = await ask('/readyz?verbose', options);
    expect(verbose.text).toBe('[+]sound ok\nwarn: two things are so\nreadyz check passed\n');
    expect(verbose.status).toBe(200);
    expect((await ask('/readyz', options)).text).toBe('ok');
    expect((await ask('/livez?verbose', options)).text).not.toContain('two things');
  });

  it('passes if and only if every requested check passes', async () => {
    const check = fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), works: fc.boolean() });
    const some = fc.uniqueArray(check, { selector: ({ name }) => name });
    await fc.assert(
      fc.asyncProperty(some, fc.subarray(['a', 'b', 'c', 'd', 'e']), async (given, excluded) => {
        const checks = given.map(({ name, works }) => (works ? { ...sound, name } : { ...broken, name }));
        const query = excluded.map((name) => `exclude=${name}`).join('&');
        const passes = given.every(({ name, works }) => works || excluded.includes(name));
        expect((await ask(`/livez?${query}`, { checks })).status).toBe(passes ? 200 : 500);
      }),
    );
  });
});

describe('the server', () => {
  it('checks its store under the configured name, and the additional checks', async () => {
    let isSynced = false;
    const server = await startTestServer({
      storeName: 'etcd',
      checks: [
        {
          name: 'informer-sync',
          readyOnly: true,
          check() {
            if (!isSynced) throw new ArcError('ServiceUnavailable', 'not yet');
          },
        },
      ],
    });
    expect((await server.call('GET', '/readyz')).text).toBe(
      '[+]ping ok\n[+]etcd ok\n[+]watch-cache ok\n[-]informer-sync failed: reason withheld\n[+]shutdown ok\nreadyz check failed\n',
    );
    expect((await server.call('GET', '/livez?verbose')).text).toBe(
      '[+]ping ok\n[+]etcd ok\nlivez check passed\n',
    );
    isSynced = true;
    expect((await server.call('GET', '/readyz')).status).toBe(200);
    await server.store.close();
    expect((await server.call('GET', '/livez/etcd')).status).toBe(500);
    expect((await server.call('GET', '/readyz?exclude=etcd')).status).toBe(200);
    await server.close();
  });
});
