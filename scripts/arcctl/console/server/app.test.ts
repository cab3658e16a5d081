import type { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { artifactWorkflows, endpoints, namespaces, orders } from '#shared/domain';
import { eventually } from '../../../shared/base/testing/eventually.ts';
import { artifactWorkflow, endpoint, order } from '../../../shared/domain/testing/objects.ts';
import { startApi, type TestApi } from '../../../test/fixtures/standalone/api-server.ts';
import { type Cluster, connect } from '../core/session.ts';
import { quietIo } from '../testing/quiet-io.ts';
import { createDashboard } from './app.ts';
import { createSecrets } from './guard.ts';
import { createWatches, type Watches } from './watches.ts';

const host = 'arc-4711.localhost:4711';
const secrets = createSecrets();
const cookie = `arc-dashboard=${secrets.session}`;
const hostile = '<script>alert(1)</script>"\'&\u202e';
const ending = new AbortController();
let api: TestApi;
let cluster: Cluster;
let watches: Watches;
let app: Hono;

beforeAll(async () => {
  api = await startApi();
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } };
  await api.admin.create(namespaces, namespace);
  cluster = await connect(quietIo({ env: { KUBECONFIG: api.kubeconfig } }), {});
  for (const name of ['first', 'second'])
    await api.admin.create(orders, { ...order(name, ['a:1', 'b:1']), metadata: { name, namespace: 'team' } });
  await status('first', {
    phase: 'Failed',
    message: hostile,
    counts: { total: 2, invalid: 1, pending: 0, running: 0, succeeded: 1, failed: 0, cancelled: 0 },
    artifactWorkflows: {
      'index-0': { artifactIndex: 0, phase: 'Invalid', reason: 'EndpointMissing', message: hostile },
    },
  });
  await api.admin.create(endpoints, {
    ...endpoint('source'),
    metadata: { name: 'source', namespace: 'team' },
  });
  watches = createWatches(cluster.api, undefined, ending.signal, 50);
  app = createDashboard({ cluster, watches, host: () => host, secrets, signal: ending.signal });
});
afterAll(async () => {
  ending.abort();
  await api?.[Symbol.asyncDispose]();
});

function status(name: string, value: object) {
  return api.admin.mergePatch(
    orders,
    { namespace: 'team', name },
    { status: value },
    { subresource: 'status' },
  );
}

function ask(path: string, headers: Record<string, string> = {}, init: RequestInit = {}) {
  return app.request(`http://${host}${path}`, { ...init, headers: { host, cookie, ...headers } });
}

async function page(path: string): Promise<string> {
  const answer = await ask(path);
  expect(answer.status, path).toBe(200);
  return answer.text();
}

function post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
  return ask(path, headers, { method: 'POST', body: new URLSearchParams(fields) });
}

describe('who gets in', () => {
  it.each([
    ...['evil.example.com', 'evil.example.com:4711', 'arc-4711.localhost', 'arc-4711.localhost:4712', ''],
    ...['127.0.0.1', '127.0.0.1:4711', 'localhost:4711', '[::1]:4711'],
  ])('refuses the host %j, with cookie and token', async (other) => {
    const answer = await ask(`/?token=${secrets.token}`, { host: other });
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([421, null]);
  });

  it('makes the token of the printed address a cookie that only this site sends and no script reads', async () => {
    const answer = await ask(`/?token=${secrets.token}`, { cookie: '' });
    expect(answer.headers.get('set-cookie')).toBe(`${cookie}; Path=/; HttpOnly; SameSite=Strict`);
    expect(await answer.text()).not.toContain(secrets.token);
  });

  it.each([
    '/',
    '/?token=wrong',
    '/endpoints',
    '/live/',
    '/orders/team/first',
    '/orders/team/first/manifest',
  ])('refuses %s without a cookie, and with a wrong one', async (path) => {
    for (const wrong of ['', 'arc-dashboard=wrong', `arc-dashboard-1=${secrets.session}`]) {
      const answer = await ask(path, { cookie: wrong });
      expect(answer.status).toBe(401);
      expect(await answer.text()).toContain('Open the address');
    }
  });

  it('allows own files only, no inline script, no frames and no cache, on every answer', async () => {
    for (const path of ['/', '/nothing', '/orders/team/none', '/live/', '/style.css', '/live.js']) {
      const { headers, body } = await ask(path);
      await body?.cancel();
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toBe('no-store');
    }
    expect((await ask('/', { host: 'evil' })).headers.get('x-frame-options')).toBe('DENY');
  });
});

describe('pages', () => {
  it('lists Orders with their counts and what they wait for, and filters them', async () => {
    const all = await page('/');
    expect(all).toContain('2 Orders: 1 Failed, 1 Pending');
    expect(all).toContain('1 of 2, 1 not well');
    expect(all).toContain('EndpointMissing (1)');
    const failed = await page('/?phase=Failed&namespace=team');
    expect(failed).toContain('/orders/team/first');
    expect(failed).not.toContain('/orders/team/second');
    expect(await page('/?name=seco&page=7')).toContain('1 Order: 1 Pending');
    expect(await page('/?namespace=other')).toContain('No Orders found');
  });

  it('shows an Order with its artifacts, actions and Events, and Endpoints', async () => {
    const shown = await page('/orders/team/first');
    expect(shown).toContain('2 artifacts: 1 Invalid, 1 Pending');
    for (const verb of ['retry', 'force', 'cancel', 'suspend', 'resume'])
      expect(shown).toContain(`href="/orders/team/first/${verb}"`);
    expect(shown).toContain('No Events');
    expect(await page('/endpoints')).toMatch(/https:\/\/source\.example\.com[\s\S]*All/);
    expect(await page('/orders/team/first/manifest')).toContain('kind: Order');
    expect(await page('/orders/team/first/log/0')).toContain('Status of #0');
  });

  it('shows what has moved within the hour: as charts, in words, and in figures', async () => {
    const moved = artifactWorkflow('moved');
    const startTime = new Date().toISOString();
    const results = { outcome: 'succeeded', bytes: { copied: 3 * 1024 * 1024 } };
    await api.admin.create(artifactWorkflows, {
      ...moved,
      metadata: { name: 'moved', namespace: 'team' },
    });
    await api.admin.mergePatch(
      artifactWorkflows,
      { namespace: 'team', name: 'moved' },
      { status: { phase: 'Succeeded', startTime, completionTime: startTime, results } },
      { subresource: 'status' },
    );
    await eventually('what has moved', 10_000, async () => {
      const shown = await page('/throughput');
      expect(shown).toContain('aria-label="Bytes per minute, in the last 60 minutes: 3 MiB in all');
      expect(shown).toContain(
        '<figcaption>Artifacts that arrived per minute, in the last 60 minutes: 1 in all, 1 at most',
      );
      expect(shown).toMatch(/<th scope="row">\d\d:\d\d<\/th><td>3 MiB<\/td><td>1<\/td>/);
    });
    expect(await page('/orders/team/first')).toContain('in the last 60 minutes: 0 bytes in all');
  });

  it('escapes whatever comes from the cluster or the address', async () => {
    for (const path of [
      '/',
      '/orders/team/first',
      '/orders/team/first/log/0',
      `/?name=${encodeURIComponent(hostile)}`,
      `/orders/team/first?phase=${encodeURIComponent(hostile)}`,
    ]) {
      const text = await page(path);
      expect(text).not.toContain('<script>alert');
      expect(text).not.toContain('name="namespace" value="<');
      expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;');
    }
    expect(await page('/')).toContain('\\u202e');
  });

  it('shows neither credentials nor secrets of the session', async () => {
    for (const path of ['/', '/orders/team/first', '/orders/team/first/manifest', '/endpoints']) {
      const text = await page(path);
      for (const secret of [api.token, secrets.token, secrets.session]) expect(text).not.toContain(secret);
    }
  });

  it.each([
    '/nothing',
    '/orders/team/none',
    '/orders/team/%2e%2e/manifest',
    '/orders/Team/x',
    '/orders/team/first/destroy',
    '/orders/team/first/log/99',
    '/orders/team/first/log/x',
  ])('has no page %s', async (path) => {
    expect((await ask(path)).status).toBe(404);
  });
});

describe('actions', () => {
  const csrf = secrets.csrf;

  it('asks before anything is done', async () => {
    const text = await page('/orders/team/second/force');
    expect(text).toContain('force Order team/second?');
    expect(text).toContain(`<input type="hidden" name="csrf" value="${csrf}">`);
  });

  const strangers: [what: string, fields: Record<string, string>, headers: Record<string, string>][] = [
    ['without a token', {}, {}],
    ['with a wrong token', { csrf: 'wrong' }, {}],
    ['from another site', { csrf }, { 'sec-fetch-site': 'cross-site' }],
    ['from another port', { csrf }, { 'sec-fetch-site': 'same-site' }],
  ];
  it.each(strangers)('refuses a form %s', async (_, fields, headers) => {
    expect((await post('/orders/team/second/suspend', fields, headers)).status).toBe(403);
    const kept = await api.admin.get(orders, { namespace: 'team', name: 'second' });
    expect(kept?.spec.suspend).toBeUndefined();
  });

  it('refuses a form without a cookie, one that is large, and other methods', async () => {
    expect((await post('/orders/team/second/suspend', { csrf }, { cookie: '' })).status).toBe(401);
    expect((await post('/orders/team/second/suspend', { csrf, more: 'x'.repeat(5000) })).status).toBe(413);
    expect((await ask('/orders/team/second', {}, { method: 'DELETE' })).status).toBe(403);
  });

  it('suspends, resumes, cancels and forces, and goes back to the Order', async () => {
    const read = () => api.admin.get(orders, { namespace: 'team', name: 'second' });
    const acted = async (verb: string) => {
      const answer = await post(`/orders/team/second/${verb}`, { csrf });
      expect([answer.status, answer.headers.get('location')]).toEqual([
        303,
        `/orders/team/second?done=${verb}`,
      ]);
      return read();
    };
    expect((await acted('suspend'))?.spec.suspend).toBe(true);
    expect((await acted('resume'))?.spec.suspend).toBeUndefined();
    expect((await acted('cancel'))?.spec.cancel).toBe(true);
    expect((await acted('resume'))?.spec.cancel).toBeUndefined();
    const forced = await acted('force');
    expect(Object.keys(forced?.metadata.annotations ?? {}).join()).toContain('force');
    expect(await page('/orders/team/second?done=force')).toContain('second: force requested');
  });

  it('hands on what the API refuses, with its status', async () => {
    const missing = await post('/orders/team/none/cancel', { csrf });
    expect([missing.status, await missing.text()]).toEqual([404, expect.stringContaining('not found')]);
    expect((await post('/orders/team/first/retry', { csrf, artifact: 'none' })).status).toBe(404);
    expect((await post('/orders/team/first/force', { csrf, artifact: 'none' })).status).toBe(400);
    expect((await post('/orders/team/first/retry', { csrf, artifact: '../x' })).status).toBe(400);
  });
});

describe('with the rights of a user', () => {
  it('says what the API refuses, and shows the rest', async () => {
    const eve = await connect(quietIo({ env: { KUBECONFIG: api.kubeconfig } }), { as: 'eve' });
    const own = createWatches(eve.api, 'team', ending.signal, 50);
    const other = createDashboard({
      ...{ cluster: eve, watches: own, host: () => host, secrets },
      signal: ending.signal,
    });
    const seen = async (path: string) =>
      (await other.request(`http://${host}${path}`, { headers: { host, cookie } })).text();
    expect(await seen('/')).toMatch(/class="notice">.*eve.* cannot list/);
    expect(await seen('/orders/team/first')).toMatch(/<h1>Forbidden<\/h1><p>.*eve.* cannot list/);
    expect(await seen('/orders/team/first/manifest')).toMatch(/<h1>Forbidden/);
  });
});

describe('the live log', () => {
  it('is opened by GET only, and ends where there is no such Order', async () => {
    expect((await ask('/follow/orders/team/first', {}, { method: 'HEAD' })).status).toBe(405);
    const ended = await ask('/follow/orders/team/none');
    expect(await ended.text()).toMatch(/^event: refused\ndata: there is no Order none/);
  });

  it('is for a few readers, and leaves no watch behind', async () => {
    const streams = await Promise.all(Array.from({ length: 11 }, () => ask('/follow/orders/team/first')));
    expect(streams.map((answer) => answer.status).sort()).toEqual([...Array(10).fill(200), 503]);
    for (const { body } of streams) await body?.cancel();
    await eventually('no watch', 10_000, async () => expect(api.watches()).toBe(0));
  });
});

describe('live updates', () => {
  it('are opened by GET only, and by a number of viewers', async () => {
    expect((await ask('/live/', {}, { method: 'HEAD' })).status).toBe(405);
    const streams = await Promise.all(Array.from({ length: 31 }, () => ask('/live/')));
    expect(streams.map((answer) => answer.status).sort()).toEqual([...Array(30).fill(200), 503]);
    for (const { body } of streams) await body?.cancel();
    await eventually('all are free again', 10_000, async () => {
      const { status, body } = await ask('/live/');
      await body?.cancel();
      expect(status).toBe(200);
    });
  });

  it('send the page when it changes, from one watch for each kind, which ends with the last viewer', async () => {
    await eventually('no watch while nobody looks', 10_000, async () => expect(watches.open).toBe(0));
    const streams = await Promise.all([1, 2, 3].map(() => ask('/live/orders/team/second')));
    const readers = streams.map((answer) => answer.body?.pipeThrough(new TextDecoderStream()).getReader());
    for (const reader of readers) {
      const { value } = (await reader?.read()) ?? {};
      expect(value).toMatch(/^event: page\ndata: <main id="main" tabindex="-1" data-live="\/live\/orders/);
    }
    expect(watches.open).toBe(3);
    await eventually('one watch for each kind', 10_000, async () => expect(api.watches()).toBe(3));
    await status('second', { phase: 'Running', message: 'on its way' });
    const [reader] = readers;
    let text = '';
    while (!text.includes('on its way')) text += (await reader?.read())?.value ?? '';
    expect(text).toContain('data: <p class="message">on its way</p>');
    for (const each of readers) await each?.cancel();
    await eventually('no watch when nobody looks any more', 10_000, async () => {
      expect(watches.open).toBe(0);
      expect(api.watches()).toBe(0);
    });
  });
});
