import { gzipSync } from 'node:zlib';
import type { Hono } from 'hono';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { namespaces, orders } from '#shared/domain';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { order } from '../../shared/domain/testing/objects.ts';
import { startApi, type TestApi } from '../../test/fixtures/standalone/api-server.ts';
import type { Session } from '../arcctl/console/api.ts';
import type { ConsoleApp } from '../build/console.ts';
import { createConsole, placeOf } from './console.ts';
import type { Credential, SignOn } from './oidc.ts';

const origin = 'https://arc.example.com';
const minuteMs = 60_000;
const front = async (): Promise<ConsoleApp> => ({
  assets: [{ name: 'a-1.js', type: 'text/javascript', gzip: gzipSync('const page = 1;') }],
  script: '/assets/a-1.js',
  style: '/assets/a-1.css',
  theme: '/assets/t-1.js',
  icon: '/assets/i-1.svg',
});
const rights = [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'reader' },
    rules: [{ apiGroups: ['arc.opendefense.cloud'], resources: ['orders'], verbs: ['get', 'list', 'watch'] }],
  },
  ...['team', 'other'].map((namespace) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'reader', namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
    subjects: [{ kind: 'ServiceAccount', name: 'ann', namespace: 'team' }],
  })),
];

let api: TestApi;
let ending: AbortController;
let clock: number;
let app: Hono;
/** What the issuer gives whoever comes back with `code=good`. */
let credential: Credential & { revoked: number };
let lines: unknown[];

beforeAll(async () => {
  api = await startApi({ accounts: ['team/ann', 'team/none'], rights });
  for (const name of ['team', 'other']) {
    await api.admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await api.admin.create(orders, {
      ...order('first', ['a:1']),
      metadata: { name: 'first', namespace: name },
    });
  }
});
afterAll(() => api[Symbol.asyncDispose]());

beforeEach(() => {
  clock = 0;
  lines = [];
  ending?.abort();
  ending = new AbortController();
  credential = {
    revoked: 0,
    token: async () => api.tokenOf('team/ann'),
    async revoke() {
      this.revoked += 1;
    },
  };
  app = open();
});

function open(proxies = 0): Hono {
  const signOn: SignOn & { name: string } = {
    name: 'login.example.com',
    begin: async () => ({
      url: new URL('https://login.example.com/auth?x=1'),
      pending: { state: 's', nonce: 'n', verifier: 'v' },
    }),
    async finish(query, pending) {
      expect(pending).toMatchObject({ state: 's', nonce: 'n', verifier: 'v' });
      if (query.get('code') !== 'good')
        throw new ArcError('Unauthorized', 'the issuer did not sign you in: no');
      return credential;
    },
  };
  const log = (...line: unknown[]) => void lines.push(line);
  return createConsole({
    env: { ARC_API_SERVER: api.url },
    origin,
    front,
    signOn,
    limits: { idleMs: 30 * minuteMs, longestMs: 720 * minuteMs, most: 50, mostPerUser: 10 },
    proxies,
    log: { info: log, warn: log },
    signal: ending.signal,
    now: () => clock,
  });
}

interface Asked {
  cookie?: string;
  headers?: Record<string, string>;
  form?: Record<string, string>;
  json?: object;
  from?: string;
}

async function ask(path: string, { cookie = '', headers = {}, form, json, from = '10.0.0.1' }: Asked = {}) {
  const body = form ? new URLSearchParams(form) : json && JSON.stringify(json);
  const all = {
    host: 'arc.example.com',
    cookie,
    ...(json && { 'content-type': 'application/json' }),
    ...headers,
  };
  const init = { headers: all, ...(body && { method: 'POST', body }) };
  return app.request(`http://internal${path}`, init, { incoming: { socket: { remoteAddress: from } } });
}

const cookieOf = (answer: Response) =>
  answer.headers
    .getSetCookie()
    .map((text) => text.split(';')[0])
    .join('; ');

function paste(token: string, more: Asked = {}) {
  return ask('/sign-in', { headers: { origin }, form: { token, to: '/orders?q=a' }, ...more });
}

async function signedIn(token = api.tokenOf('team/ann')): Promise<string> {
  const answer = await paste(token);
  expect(answer.status).toBe(303);
  return cookieOf(answer);
}

async function sessionOf(cookie: string): Promise<Session> {
  const answer = await ask('/api/session', { cookie });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Session;
}

async function change(cookie: string, path: string, json: object, headers: Record<string, string> = {}) {
  const { csrf } = await sessionOf(cookie);
  return ask(path, { cookie, json, headers: { 'x-arc-csrf': csrf, ...headers } });
}

/** The first event of a live topic that is not a beat. */
async function firstEvent(cookie: string, topic: string): Promise<string> {
  const answer = await ask(`/api/live/${topic}`, { cookie });
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!/event: (change|problem)\ndata: .*\n/.test(text)) {
    const { value, done } = (await reader?.read()) ?? { done: true };
    if (done) break;
    text += value ?? '';
  }
  await reader?.cancel();
  return text;
}

describe('a token', () => {
  it('becomes a session of whom the cluster says it is, and leads back to where they were', async () => {
    const answer = await paste(api.tokenOf('team/ann'));
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/orders?q=a']);
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-arc-console=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
    ]);
    expect(await sessionOf(cookieOf(answer))).toMatchObject({
      viewer: { name: 'system:serviceaccount:team:ann', mustChoose: false },
      namespace: 'team',
    });
  });

  it.each(['', 'wrong', 'a b', '<script>'])(
    'that the cluster does not know makes none: %j',
    async (token) => {
      const answer = await paste(token);
      expect([answer.status, answer.headers.getSetCookie()]).toEqual([401, []]);
      const text = await answer.text();
      expect(text).toContain('You are not signed in');
      expect(text).not.toContain('<script>');
    },
  );

  it('is in no page, no cookie and no line of the log', async () => {
    const token = api.tokenOf('team/ann');
    const cookie = await signedIn();
    const texts = [cookie, JSON.stringify(lines)];
    for (const path of ['/', '/api/session', '/sign-in', '/api/orders/team/first/manifest'])
      texts.push(await (await ask(path, { cookie })).text());
    texts.push(await firstEvent(cookie, 'orders'));
    for (const text of texts) expect(text).not.toContain(token);
    expect(JSON.stringify(lines)).toContain('system:serviceaccount:team:ann');
  });

  it.each<[string, Record<string, string>]>([
    ['another origin', { origin: 'https://evil.example.com' }],
    ['no origin', {}],
    ['a sandbox', { origin: 'null' }],
  ])('is taken from our own page alone, not from %s', async (_, headers) => {
    const answer = await ask('/sign-in', { headers, form: { token: api.token } });
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([403, []]);
  });
});

describe('a sign-on', () => {
  it('goes to the issuer and comes back as a session', async () => {
    const begun = await ask(`/sign-in/oidc?to=${encodeURIComponent('/orders/team/first')}`);
    expect([begun.status, begun.headers.get('location')]).toEqual([
      303,
      'https://login.example.com/auth?x=1',
    ]);
    expect(begun.headers.getSetCookie()[0]).toMatch(
      /^__Host-arc-sign-in=[\w-]+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    const back = await ask('/sign-in/callback?code=good&state=s', { cookie: cookieOf(begun) });
    expect([back.status, back.headers.get('location')]).toEqual([303, '/orders/team/first']);
    const [dropped, kept = ''] = back.headers.getSetCookie();
    expect(dropped).toMatch(/^__Host-arc-sign-in=; Max-Age=0/);
    expect((await sessionOf(kept.split(';')[0] ?? '')).viewer?.name).toBe('system:serviceaccount:team:ann');
  });

  it('ends nowhere without what this browser has begun, or where the issuer says no', async () => {
    for (const cookie of ['', '__Host-arc-sign-in=x', '__Host-arc-sign-in=e30'])
      expect((await ask('/sign-in/callback?code=good', { cookie })).status).toBe(400);
    const cookie = cookieOf(await ask('/sign-in/oidc'));
    const refused = await ask('/sign-in/callback?code=bad', { cookie });
    expect([refused.status, cookieOf(refused)]).toEqual([401, '__Host-arc-sign-in=']);
  });

  it('gives no session for what the cluster does not accept, and says so', async () => {
    credential.token = async () => 'of another issuer';
    const answer = await ask('/sign-in/callback?code=good', { cookie: cookieOf(await ask('/sign-in/oidc')) });
    expect([answer.status, await answer.text()]).toEqual([
      401,
      expect.stringContaining('You are not signed in'),
    ]);
  });

  it.each([
    ...['//evil.example.com', 'https://evil.example.com', '/\\evil.example.com', '/\t/evil.example.com'],
    ...['javascript:alert(1)', '', undefined, '/sign-in?to=/', '/..//evil.example.com'],
  ])('goes on to a place of ours alone: %j', (to) => expect(placeOf(to)).toBe('/'));
});

describe('somebody who has not signed in', () => {
  it('gets files of the front end and the way to sign in, and nothing else', async () => {
    expect((await ask('/assets/a-1.js')).status).toBe(200);
    expect((await ask('/health/liveness', { headers: { host: '10.1.1.1:8080' } })).status).toBe(200);
    const page = await ask('/orders?phase=Failed');
    expect([page.status, page.headers.get('location')]).toEqual([
      303,
      '/sign-in?to=%2Forders%3Fphase%3DFailed',
    ]);
    for (const path of [
      '/api/session',
      '/api/live/orders',
      '/api/orders/team/first/manifest',
      '/api/follow/a/b',
    ]) {
      const answer = await ask(path, { cookie: '__Host-arc-console=guessed' });
      expect([path, answer.status, await answer.json()]).toMatchObject([path, 401, { signIn: '/sign-in' }]);
    }
    expect((await ask('/api/orders', { json: {} })).status).toBe(401);
  });

  it('gets a page without script of its own, in no frame, under TLS', async () => {
    const { headers } = await ask('/sign-in');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
    expect(headers.get('content-security-policy')).toContain("form-action 'self'; frame-ancestors 'none'");
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('is refused under another name, which could be one that leads here', async () => {
    for (const host of ['10.1.1.1:8080', 'evil.example.com', 'arc.example.com:8443'])
      expect((await ask('/sign-in', { headers: { host } })).status).toBe(421);
  });
});

describe('a viewer', () => {
  it('shows what the viewer may read, and names what is forbidden', async () => {
    const cookie = await signedIn();
    expect(await firstEvent(cookie, 'orders')).toContain('"namespace":"team","name":"first"');
    const forbidden = await change(cookie, '/api/orders/team/first/actions', { action: 'delete' });
    expect([forbidden.status, await forbidden.json()]).toMatchObject([403, { code: 'Forbidden' }]);
    expect(await api.admin.get(orders, { namespace: 'team', name: 'first' })).toBeDefined();
    const none = await signedIn(api.tokenOf('team/none'));
    expect(await firstEvent(none, 'orders')).toContain('cannot list');
    const admin = await signedIn(api.token);
    expect(await sessionOf(admin)).not.toHaveProperty('namespace');
    expect(await firstEvent(admin, 'orders')).toContain('"namespace":"other","name":"first"');
  });

  it('chooses a namespace, which the browser remembers', async () => {
    const cookie = await signedIn();
    expect((await change(cookie, '/api/namespace', { namespace: 'Other' })).status).toBe(400);
    const answer = await change(cookie, '/api/namespace', { namespace: 'other' });
    expect(answer.headers.getSetCookie()[0]).toMatch(
      /^__Host-arc-namespace=other; Max-Age=31536000; .*HttpOnly/,
    );
    expect(await sessionOf(cookie)).toMatchObject({ namespace: 'other' });
    expect(await firstEvent(cookie, 'orders')).toContain('"namespace":"other","name":"first"');
    const again = await paste(api.tokenOf('team/ann'), { cookie: '__Host-arc-namespace=other' });
    expect(await sessionOf(cookieOf(again))).toMatchObject({ namespace: 'other' });
  });

  it.each<[string, Record<string, string>]>([
    ['without the token of its pages', { 'x-arc-csrf': '' }],
    ['with another one', { 'x-arc-csrf': 'guessed' }],
    ['from another site', { 'sec-fetch-site': 'cross-site' }],
    ['from a sister of this site', { 'sec-fetch-site': 'same-site' }],
    ['from another origin', { origin: 'https://evil.example.com' }],
  ])('changes nothing %s', async (_, headers) => {
    const cookie = await signedIn(api.token);
    for (const path of ['/api/orders/team/first/actions', '/api/namespace', '/api/sign-out']) {
      const answer = await change(cookie, path, { action: 'delete', namespace: 'x' }, headers);
      expect([path, answer.status]).toEqual([path, 403]);
    }
    expect(await api.admin.get(orders, { namespace: 'team', name: 'first' })).toBeDefined();
    expect((await sessionOf(cookie)).namespace).toBeUndefined();
  });

  it('changes nothing with the token of another session', async () => {
    const [cookie, other] = [await signedIn(api.token), await signedIn(api.token)];
    const { csrf } = await sessionOf(other);
    const answer = await ask('/api/sign-out', { cookie, json: {}, headers: { 'x-arc-csrf': csrf } });
    expect(answer.status).toBe(403);
  });
});

describe('a session', () => {
  it('ends with its viewer: updates, cookie, and the sign-on at the issuer', async () => {
    const back = await ask('/sign-in/callback?code=good', { cookie: cookieOf(await ask('/sign-in/oidc')) });
    const cookie = back.headers.getSetCookie()[1]?.split(';')[0] ?? '';
    const live = await ask('/api/live/orders', { cookie });
    const out = await change(cookie, '/api/sign-out', {});
    expect([out.status, out.headers.getSetCookie()[0]]).toEqual([
      200,
      expect.stringMatching(/^__Host-arc-console=; Max-Age=0/),
    ]);
    expect(credential.revoked).toBe(1);
    await live.text();
    expect((await ask('/api/session', { cookie })).status).toBe(401);
    await eventually('no watch', 20_000, () => expect(api.watches()).toBe(0));
  });

  it('ends when the cluster no longer accepts its token', async () => {
    const back = await ask('/sign-in/callback?code=good', { cookie: cookieOf(await ask('/sign-in/oidc')) });
    const cookie = back.headers.getSetCookie()[1]?.split(';')[0] ?? '';
    credential.token = async () => 'expired';
    expect((await ask('/api/orders/team/first/manifest', { cookie })).status).toBe(502);
    expect((await ask('/api/session', { cookie })).status).toBe(401);
  });

  it('ends after its idle time', async () => {
    const cookie = await signedIn();
    clock = 29 * minuteMs;
    await sessionOf(cookie);
    clock = 58 * minuteMs;
    await sessionOf(cookie);
    clock = 88 * minuteMs;
    expect((await ask('/api/session', { cookie })).status).toBe(401);
  });

  it('is another one after each sign-in: one that was planted is worth nothing', async () => {
    const planted = await signedIn();
    const cookie = cookieOf(await paste(api.token, { cookie: planted }));
    expect(cookie).not.toBe(planted);
    expect((await ask('/api/session', { cookie: planted })).status).toBe(401);
    expect((await sessionOf(cookie)).viewer?.name).toBe('admin');
  });
});

describe('limits', () => {
  const attempt = async (from: string, token = 'wrong', headers = {}) => {
    const answer = await paste(token, { from, headers: { origin, ...headers } });
    return answer.status === 429 ? `429 ${answer.headers.get('retry-after')}` : String(answer.status);
  };

  it('let an address try a few tokens, and later more', async () => {
    for (let count = 0; count < 10; count += 1) expect(await attempt('10.0.0.7')).toBe('401');
    expect(await attempt('10.0.0.7')).toBe('429 5');
    expect(await attempt('10.0.0.7', api.token)).toBe('429 5');
    expect(await attempt('10.0.0.8', api.token)).toBe('303');
    clock = 5_000;
    expect(await attempt('10.0.0.7', api.token)).toBe('303');
  });

  it('charge nothing for sign-ins', async () => {
    for (let count = 0; count < 12; count += 1) expect(await attempt('10.0.0.7', api.token)).toBe('303');
  });

  it('know addresses behind proxies of ours, and believe no other', async () => {
    app = open(1);
    const via = (client: string) => ({ 'x-forwarded-for': `6.6.6.6, ${client}` });
    for (let count = 0; count < 10; count += 1)
      expect(await attempt('10.0.0.1', 'wrong', via('1.1.1.1'))).toBe('401');
    expect(await attempt('10.0.0.1', 'wrong', via('1.1.1.1'))).toBe('429 5');
    expect(await attempt('10.0.0.1', 'wrong', via('2.2.2.2'))).toBe('401');
    app = open(0);
    for (let count = 0; count < 10; count += 1) await attempt('10.0.0.1', 'wrong', via(`1.1.1.${count}`));
    expect(await attempt('10.0.0.1', 'wrong', via('3.3.3.3'))).toBe('429 5');
  });

  it('bound the requests of a session, and of no other', async () => {
    const [cookie, other] = [await signedIn(api.token), await signedIn(api.token)];
    const statuses = new Map<number, number>();
    for (let count = 0; count < 210; count += 1) {
      const { status } = await ask('/api/session', { cookie });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect([...statuses]).toEqual([
      [200, 200],
      [429, 10],
    ]);
    const refused = await ask('/api/session', { cookie });
    expect([refused.headers.get('retry-after'), await refused.json()]).toMatchObject([
      '1',
      { code: 'TooManyRequests' },
    ]);
    await sessionOf(other);
    clock = 1_000;
    await sessionOf(cookie);
  });
});
