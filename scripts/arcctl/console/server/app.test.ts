import { gzipSync } from 'node:zlib';
import type { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { artifactWorkflows, endpoints, namespaces, orders } from '#shared/domain';
import { eventually } from '../../../../shared/base/testing/eventually.ts';
import { artifactWorkflow, endpoint, order } from '../../../../shared/domain/testing/objects.ts';
import { startApi, type TestApi } from '../../../../test/fixtures/standalone/api-server.ts';
import type { ConsoleApp } from '../../../build/console.ts';
import { type Cluster, connect } from '../../core/session.ts';
import { quietIo } from '../../testing/quiet-io.ts';
import type { ArtifactRow, Change, EndpointRow, OrderHead, OrderRow, Settings } from '../api.ts';
import { createWatches, type Watches } from '../model/watches.ts';
import { createDashboard } from './app.ts';
import { createSecrets } from './guard.ts';

const host = 'arc-4711.localhost:4711';
const secrets = createSecrets();
const cookie = `arc-dashboard=${secrets.session}`;
const hostile = '<script>alert(1)</script>"\'&\u202e';
const ending = new AbortController();
/** As it is built, without the build. */
const front = async (): Promise<ConsoleApp> => ({
  assets: [{ name: 'a-1.js', type: 'text/javascript', gzip: gzipSync('const page = 1;') }],
  script: '/assets/a-1.js',
  style: '/assets/a-1.css',
  theme: '/assets/t-1.js',
  icon: '/assets/i-1.svg',
});
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
  app = createDashboard({ cluster, watches, host: () => host, secrets, front, signal: ending.signal });
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

async function read<T = Record<string, unknown>>(path: string): Promise<T> {
  const answer = await ask(path);
  expect(answer.status, path).toBe(200);
  return (await answer.json()) as T;
}

function post(path: string, body: object, headers: Record<string, string> = {}) {
  const all = { 'x-arc-csrf': secrets.csrf, 'content-type': 'application/json', ...headers };
  return ask(path, all, { method: 'POST', body: JSON.stringify(body) });
}

/** The first change of a topic, which is whole. */
async function view(topic: string, of: Hono = app): Promise<{ change: Change; text: string }> {
  const answer = await of.request(`http://${host}/api/live/${topic}`, { headers: { host, cookie } });
  expect(answer.status, topic).toBe(200);
  const { text, data } = await nextOf(answer, 'change');
  return { change: JSON.parse(data) as Change, text };
}

/** Reads a stream of events until one of that name has come, and leaves. */
async function nextOf(answer: Response, event: string): Promise<{ text: string; data: string }> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  const pattern = new RegExp(`event: ${event}\ndata: (.*)\n`);
  let text = '';
  while (!pattern.test(text)) {
    const { value, done } = (await reader?.read()) ?? { done: true };
    if (done) break;
    text += value ?? '';
  }
  await reader?.cancel();
  return { text, data: pattern.exec(text)?.[1] ?? '' };
}

function rows<T>({ lists }: Change, list: string): T[] {
  return (lists[list]?.set ?? []) as T[];
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
    ...['/', '/?token=wrong', '/endpoints', '/orders/team/first', '/api/session', '/api/live/orders'],
    ...['/api/orders/team/first/manifest', '/api/follow/team/first', '/api/settings'],
  ])('refuses %s without a cookie, and with a wrong one', async (path) => {
    for (const wrong of ['', 'arc-dashboard=wrong', `arc-dashboard-1=${secrets.session}`]) {
      const answer = await ask(path, { cookie: wrong });
      expect(answer.status).toBe(401);
      expect(await answer.text()).toContain('open the URL');
    }
  });

  it('allows own files only, no inline script or style and no frames, on every answer', async () => {
    for (const path of [
      '/',
      '/nothing',
      '/api/nothing',
      '/api/live/overview',
      '/assets/a-1.js',
      '/assets/none.js',
    ]) {
      const { headers, body } = await ask(path);
      await body?.cancel();
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      const isAsset = path === '/assets/a-1.js';
      expect(headers.get('cache-control'), path).toBe(
        isAsset ? 'private, max-age=31536000, immutable' : 'no-store',
      );
    }
    expect((await ask('/', { host: 'evil' })).headers.get('x-frame-options')).toBe('DENY');
  });
});

describe('what is shown', () => {
  it('lists Orders with their counts and what they wait for', async () => {
    const { change } = await view('orders');
    const found = rows<OrderRow>(change, 'orders');
    expect(found.map(({ name, phase }) => [name, phase]).sort()).toEqual([
      ['first', 'Failed'],
      ['second', 'Pending'],
    ]);
    const first = found.find(({ name }) => name === 'first');
    expect(first?.counts).toMatchObject({ total: 2, succeeded: 1, invalid: 1 });
    expect(first?.waits).toEqual([{ reason: 'EndpointMissing', count: 1, needsPerson: true }]);
  });

  it('shows an Order with its artifacts, and the actions that can work', async () => {
    const { change } = await view('orders/team/first');
    const head = change.values.order as OrderHead;
    expect(head).toMatchObject({ name: 'first', phase: 'Failed', needsPerson: true });
    expect(head.actions).toEqual(['force', 'suspend', 'cancel']);
    const artifacts = rows<ArtifactRow>(change, 'artifacts');
    expect(artifacts.map(({ name, phase, actions }) => [name, phase, actions])).toEqual([
      ['#0', 'Invalid', []],
      ['#1', 'Pending', []],
    ]);
    expect((await read<{ text: string }>('/api/orders/team/first/manifest')).text).toContain('kind: Order');
    expect(JSON.stringify(await read('/api/orders/team/first/logs/0'))).toContain('Status of #0');
    expect(await read('/api/orders/team/first/runs')).toMatchObject({ unread: [] });
  });

  it('shows Endpoints with the Orders that use them', async () => {
    const { change } = await view('endpoints');
    const [source] = rows<EndpointRow>(change, 'endpoints');
    expect(source).toMatchObject({
      name: 'source',
      url: 'https://source.example.com',
      sides: ['source', 'destination'],
      state: 'unknown',
      users: 2,
    });
    expect(source?.usedBy[0]).toMatchObject({ side: 'source' });
  });

  it('shows what has moved within the hour', async () => {
    const moved = artifactWorkflow('moved');
    const startTime = new Date().toISOString();
    const results = { outcome: 'succeeded', bytes: { copied: 3 * 1024 * 1024 } };
    await api.admin.create(artifactWorkflows, { ...moved, metadata: { name: 'moved', namespace: 'team' } });
    await api.admin.mergePatch(
      artifactWorkflows,
      { namespace: 'team', name: 'moved' },
      { status: { phase: 'Succeeded', startTime, completionTime: startTime, results } },
      { subresource: 'status' },
    );
    await eventually('what has moved', 10_000, async () => {
      const { change } = await view('overview');
      const minutes = change.values.minutes as { bytes: number; arrived: number }[];
      expect(minutes.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(3 * 1024 * 1024);
      expect(minutes.reduce((sum, { arrived }) => sum + arrived, 0)).toBe(1);
    });
  });

  it('shows the settings with what each means, and what doctor finds', async () => {
    const { rows: settings } = await read<Settings>('/api/settings');
    expect(settings.find(({ id }) => id === 'defaults.onChange')).toMatchObject({
      value: '',
      unset: 'Rerun',
    });
    const { findings } = await read<{ findings: { check: string }[] }>('/api/doctor?namespace=team');
    expect(findings.map(({ check }) => check)).toContain('ARC API');
  });

  it('hands on what comes from the cluster as data, without characters that change what stands beside them', async () => {
    const seen = [
      (await view('orders')).text,
      (await view('orders/team/first')).text,
      JSON.stringify(await read('/api/orders/team/first/logs/0')),
    ];
    for (const text of seen) {
      expect(text).toContain('<script>alert(1)</script>');
      expect(text).not.toContain('\u202e');
      expect(text).toContain('\\u202e');
    }
    const { headers } = await ask('/api/orders/team/first/logs/0');
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(await (await ask(`/?q=${encodeURIComponent(hostile)}`)).text()).not.toContain('alert');
  });

  it('shows neither credentials nor secrets of the session', async () => {
    const texts = [
      ...(await Promise.all(
        ['orders', 'orders/team/first', 'endpoints', 'types'].map(async (topic) => (await view(topic)).text),
      )),
      ...(await Promise.all(
        ['/', '/api/session', '/api/orders/team/first/manifest', '/api/settings'].map(async (path) =>
          (await ask(path)).text(),
        ),
      )),
    ];
    for (const text of texts)
      for (const secret of [api.token, secrets.token, secrets.session]) expect(text).not.toContain(secret);
  });

  it.each([
    ...[
      '/api/nothing',
      '/api/orders/team/none/manifest',
      '/api/orders/team/%2e%2e/manifest',
      '/assets/none.js',
    ],
    ...['/api/orders/Team/x/manifest', '/api/orders/team/first/logs/99', '/api/orders/team/first/logs/x'],
    ...['/api/live/nothing', '/api/orders/team/first/diff?from=none&to=none'],
  ])('has nothing at %s', async (path) => {
    expect((await ask(path)).status).toBe(404);
  });

  it('says that an Order is not there, and that it has gone while somebody looked', async () => {
    const none = await nextOf(await ask('/api/live/orders/team/none'), 'problem');
    expect(JSON.parse(none.data)).toEqual({
      code: 'NotFound',
      message: 'there is no Order none in namespace team',
    });
  });
});

describe('changes', () => {
  const actions = '/api/orders/team/second/actions';
  const read2 = () => api.admin.get(orders, { namespace: 'team', name: 'second' });

  const strangers: [what: string, headers: Record<string, string>][] = [
    ['without a token', { 'x-arc-csrf': '' }],
    ['with a wrong token', { 'x-arc-csrf': 'wrong' }],
    ['from another site', { 'sec-fetch-site': 'cross-site' }],
    ['from another port', { 'sec-fetch-site': 'same-site' }],
    ['from another origin', { origin: 'https://arc-4711.localhost:4711' }],
  ];
  it.each(strangers)('refuses a change %s', async (_, headers) => {
    expect((await post(actions, { action: 'suspend' }, headers)).status).toBe(403);
    expect((await read2())?.spec.suspend).toBeUndefined();
  });

  it('refuses a change without a cookie, one that is large, and other methods', async () => {
    expect((await post(actions, { action: 'suspend' }, { cookie: '' })).status).toBe(401);
    expect((await post(actions, { action: 'suspend', more: 'x'.repeat(1024 * 1024) })).status).toBe(413);
    expect((await ask('/api/orders/team/second', {}, { method: 'DELETE' })).status).toBe(403);
  });

  it('suspends, resumes, cancels and forces', async () => {
    const acted = async (action: string) => {
      expect((await post(actions, { action })).status).toBe(200);
      return read2();
    };
    expect((await acted('suspend'))?.spec.suspend).toBe(true);
    expect((await acted('resume'))?.spec.suspend).toBeUndefined();
    expect((await acted('cancel'))?.spec.cancel).toBe(true);
    expect((await acted('resume'))?.spec.cancel).toBeUndefined();
    const forced = await acted('force');
    expect(Object.keys(forced?.metadata.annotations ?? {}).join()).toContain('force');
  });

  it('hands on what the API refuses, with its status', async () => {
    const missing = await post('/api/orders/team/none/actions', { action: 'cancel' });
    expect([missing.status, await missing.text()]).toEqual([404, expect.stringContaining('not found')]);
    const first = '/api/orders/team/first/actions';
    expect((await post(first, { action: 'retry', artifact: 'none' })).status).toBe(404);
    expect((await post(first, { action: 'force', artifact: 'none' })).status).toBe(400);
    expect((await post(first, { action: 'retry', artifact: '../x' })).status).toBe(400);
    expect((await post(first, { action: 'destroy' })).status).toBe(400);
    expect((await post(first, { action: 'delete', artifact: 'x' })).status).toBe(400);
  });

  it('rolls an artifact back to an earlier version, and compares the two', async () => {
    const version = async (name: string, image: string, revision: number) => {
      const made = artifactWorkflow(name);
      const spec = { ...made.spec, revision, artifact: { spec: { image } } };
      await api.admin.create(artifactWorkflows, { ...made, metadata: { name, namespace: 'team' }, spec });
    };
    await version('second-old', 'a:0', 1);
    await version('second-new', 'a:1', 2);
    const { lines } = await read<{ lines: { kind: string; text: string }[] }>(
      '/api/orders/team/second/diff?from=second-old&to=second-new',
    );
    expect(lines.filter(({ kind }) => kind !== 'same')).toEqual([
      { kind: 'removed', text: '  image: a:0' },
      { kind: 'added', text: '  image: a:1' },
    ]);
    const rollback = '/api/orders/team/second/rollback';
    expect((await post(rollback, { index: 0, version: 'second-old' })).status).toBe(200);
    expect((await read2())?.spec.artifacts?.[0]?.spec).toEqual({ image: 'a:0' });
    expect((await post(rollback, { index: 9, version: 'second-old' })).status).toBe(409);
    expect((await post(rollback, { index: 0, version: 'gone' })).status).toBe(404);
    expect((await post(rollback, { index: 0, version: '../x' })).status).toBe(400);
  });

  it('says what would become of a new Order, stores nothing, and makes it', async () => {
    const manifest = JSON.stringify({
      ...order('third', ['c:1']),
      metadata: { name: 'third', namespace: 'team' },
    });
    const answer = await post('/api/dry-run', { manifest });
    expect(await answer.json()).toMatchObject({
      manifest: expect.stringContaining('kind: Order'),
      outcomes: [{ artifact: '#0', action: 'wait', reason: 'EndpointMissing' }],
    });
    const third = { namespace: 'team', name: 'third' };
    expect(await api.admin.get(orders, third)).toBeUndefined();
    const wrong = await post('/api/dry-run', { manifest: manifest.replace('artifacts', 'artefacts') });
    expect(await wrong.json()).toMatchObject({ refused: expect.stringContaining('artefacts') });
    for (const text of ['a: [', 'kind: Secret', '', `${manifest}\n---\n${manifest}`]) {
      expect(await (await post('/api/dry-run', { manifest: text })).json()).toMatchObject({
        refused: expect.stringContaining('manifest'),
      });
      expect((await post('/api/orders', { manifest: text })).status).toBe(400);
    }
    const created = await post('/api/orders', { manifest });
    expect([created.status, await created.json()]).toEqual([200, third]);
    expect((await post('/api/orders/team/third/actions', { action: 'delete' })).status).toBe(200);
    expect(await api.admin.get(orders, third)).toBeUndefined();
  });
});

describe('with the rights of a user', () => {
  it('says what the API refuses, and shows the rest', async () => {
    const eve = await connect(quietIo({ env: { KUBECONFIG: api.kubeconfig } }), { as: 'eve' });
    const own = createWatches(eve.api, 'team', ending.signal, 50);
    const other = createDashboard({
      cluster: eve,
      namespace: 'team',
      watches: own,
      host: () => host,
      secrets,
      front,
      signal: ending.signal,
    });
    const seen = (path: string) => other.request(`http://${host}${path}`, { headers: { host, cookie } });
    for (const topic of ['orders', 'orders/team/first']) {
      const { data, text } = await nextOf(await seen(`/api/live/${topic}`), 'problem');
      expect(JSON.parse(data)).toMatchObject({
        code: 'Forbidden',
        message: expect.stringMatching(/eve.* cannot list/),
      });
      expect(text).not.toContain('event: change');
    }
    const manifest = await seen('/api/orders/team/first/manifest');
    expect([manifest.status, await manifest.text()]).toEqual([
      403,
      expect.stringMatching(/eve.* cannot get/),
    ]);
  });
});

describe('the live log', () => {
  it('is opened by GET only, and ends where there is no such Order', async () => {
    expect((await ask('/api/follow/team/first', {}, { method: 'HEAD' })).status).toBe(405);
    const ended = await ask('/api/follow/team/none');
    expect(await ended.text()).toMatch(/^event: refused\ndata: there is no Order none/);
  });

  it('is for a few readers, and leaves no watch behind', async () => {
    const streams = await Promise.all(Array.from({ length: 6 }, () => ask('/api/follow/team/first')));
    expect(streams.map((answer) => answer.status).sort()).toEqual([...Array(5).fill(200), 503]);
    for (const { body } of streams) await body?.cancel();
    await eventually('no watch', 10_000, async () => expect(api.watches()).toBe(0));
  });
});

describe('live updates', () => {
  const orders1 = '/api/live/orders';

  it('are opened by GET only, and by a number of viewers', async () => {
    expect((await ask(orders1, {}, { method: 'HEAD' })).status).toBe(405);
    const streams = await Promise.all(Array.from({ length: 31 }, () => ask(orders1)));
    expect(streams.map((answer) => answer.status).sort()).toEqual([...Array(30).fill(200), 503]);
    for (const { body } of streams) await body?.cancel();
    await eventually('all are free again', 10_000, async () => {
      const { status: code, body } = await ask(orders1);
      await body?.cancel();
      expect(code).toBe(200);
    });
  });

  it('send what differs alone, from one watch for each kind, which ends with the last viewer', async () => {
    await eventually('no watch while nobody looks', 10_000, async () => expect(watches.open).toBe(0));
    const streams = await Promise.all([1, 2, 3].map(() => ask('/api/live/orders')));
    const readers = streams.map((answer) => answer.body?.pipeThrough(new TextDecoderStream()).getReader());
    const until = async (reader: (typeof readers)[number], pattern: RegExp) => {
      let text = '';
      while (!pattern.test(text)) text += (await reader?.read())?.value ?? '';
      return text;
    };
    for (const reader of readers) expect(await until(reader, /"name":"second"/)).toMatch(/"isWhole":true/);
    expect(watches.open).toBe(1);
    await eventually('one watch for each kind', 10_000, async () => expect(api.watches()).toBe(1));
    await status('second', { phase: 'Running', message: 'on its way' });
    const [reader] = readers;
    const change = await until(reader, /on its way/);
    expect(change).toMatch(/"isWhole":false/);
    expect(change).not.toMatch(/"name":"first"/);
    for (const each of readers) await each?.cancel();
    await eventually('no watch when nobody looks any more', 10_000, async () => {
      expect(watches.open).toBe(0);
      expect(api.watches()).toBe(0);
    });
  });
});
