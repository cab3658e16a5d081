import { X509Certificate } from 'node:crypto';
import { Socket } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { type Authority, createAuthority } from '../../../base/testing/authority.ts';
import type { Connection } from '../http/connection.ts';
import { createAuthenticator } from './authenticator.ts';
import { type AuthenticationConfig, parseAuthenticationConfig } from './config.ts';
import type { User } from './user/user.ts';

let users: Authority;
let proxies: Authority;
let unknownAuthority: Authority;
let config: AuthenticationConfig;

beforeAll(async () => {
  [users, proxies, unknownAuthority] = await Promise.all([
    createAuthority('users'),
    createAuthority('proxies'),
    createAuthority('unknownAuthority'),
  ]);
  config = parseAuthenticationConfig({
    'client-ca-file': users.cert,
    'requestheader-client-ca-file': proxies.cert,
    'requestheader-allowed-names': '["front-proxy"]',
    'requestheader-username-headers': '["X-Remote-User","X-Other-User"]',
    'requestheader-uid-headers': '["X-Remote-Uid"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
  });
});

/** Authenticates a request with these header lines and this certificate. */
function ask(
  lines: readonly (readonly [string, string])[],
  certificate?: { cert: string },
  how: { now?: () => Date; config?: AuthenticationConfig; onProxy?: () => void } = {},
): Promise<User | undefined> {
  const headers = new Map<string, string[]>();
  for (const [name, value] of lines) {
    headers.set(name.toLowerCase(), [...(headers.get(name.toLowerCase()) ?? []), value]);
  }
  const connection: Connection = {
    headers,
    address: '127.0.0.1',
    socket: new Socket(),
    isAuthenticated: false,
    markAuthenticated: () => undefined,
    isProxy: false,
    markProxy: () => how.onProxy?.(),
    certificate: certificate && new X509Certificate(certificate.cert),
  };
  const authenticate = createAuthenticator({
    config: () => how.config ?? config,
    reviewToken: async (token) => {
      if (token === 'good') return { name: 'by-token', groups: [] };
      throw new ArcError('Unauthorized', 'Unauthorized');
    },
    ...(how.now && { now: how.now }),
  });
  return authenticate(new Request('https://x.invalid/'), connection);
}

const speaksForJo = [
  ['X-Remote-User', 'jo'],
  ['X-Remote-Group', 'a,b'],
  ['X-Remote-Group', 'c'],
  ['X-Remote-Extra-Acme.com%2fProject', 'x, y'],
  ['X-Remote-Extra-acme.com%2Fproject', 'z'],
  ['X-Remote-Uid', '42'],
] as const;

describe('the front proxy', () => {
  it('sets user, groups with commas, unescaped extra keys and uid', async () => {
    expect(await ask(speaksForJo, await proxies.issue({ name: 'front-proxy' }))).toEqual({
      name: 'jo',
      groups: ['a,b', 'c'],
      uid: '42',
      extra: { 'acme.com/project': ['x, y', 'z'] },
    });
  });

  it('reads names as UTF-8', async () => {
    const name = Buffer.from('jörg-日本', 'utf8').toString('latin1');
    const user = await ask([['X-Remote-User', name]], await proxies.issue({ name: 'front-proxy' }));
    expect(user?.name).toBe('jörg-日本');
  });

  it('may use any of the configured user headers', async () => {
    const lines = [
      ['X-Remote-User', ' '],
      ['X-Other-User', 'jo'],
    ] as const;
    expect(await ask(lines, await proxies.issue({ name: 'front-proxy' }))).toMatchObject({ name: 'jo' });
  });

  it('has its connection marked, which then counts for no user; a user does not', async () => {
    const marked: string[] = [];
    const pair = await proxies.issue({ name: 'front-proxy' });
    await ask(speaksForJo, pair, { onProxy: () => marked.push('proxy') });
    await ask([], await users.issue({ name: 'jo' }), { onProxy: () => marked.push('jo') });
    expect(marked).toEqual(['proxy']);
  });

  it('is ignored without a certificate', async () => {
    expect(await ask(speaksForJo)).toBeUndefined();
  });

  it.each([
    ['of the wrong name', () => proxies.issue({ name: 'other' })],
    ['of another authority', () => unknownAuthority.issue({ name: 'front-proxy' })],
    ['that has expired', () => proxies.issue({ name: 'front-proxy' }, { days: -1 })],
    ['that is for servers only', () => proxies.issue({ name: 'front-proxy' }, { use: 'server' })],
  ])('is refused with a certificate %s', async (_what, issue) => {
    await expect(ask(speaksForJo, await issue())).rejects.toMatchObject({ code: 'Unauthorized' });
  });

  it('is only a user if its certificate is of the authority for users', async () => {
    const user = await ask(speaksForJo, await users.issue({ name: 'front-proxy' }));
    expect(user).toMatchObject({ name: 'front-proxy', groups: [] });
  });

  it('may have any name if none is required, and is refused without a user', async () => {
    const frontProxy = config.frontProxy && { ...config.frontProxy, allowedNames: [] };
    const any = await proxies.issue({ name: 'whatever' });
    expect(await ask(speaksForJo, any, { config: { ...config, frontProxy } })).toMatchObject({ name: 'jo' });
    await expect(ask([], any, { config: { ...config, frontProxy } })).rejects.toMatchObject({
      code: 'Unauthorized',
    });
  });

  it('is trusted only while its certificate is valid', async () => {
    const certificate = await proxies.issue({ name: 'front-proxy' }, { days: 2 });
    const later = () => new Date(Date.now() + 3 * 24 * 60 * 60 * 1000);
    await expect(ask(speaksForJo, certificate, { now: later })).rejects.toMatchObject({
      code: 'Unauthorized',
    });
  });
});

describe('a client certificate', () => {
  it('names the user and its groups', async () => {
    const certificate = await users.issue({ name: 'jo', organizations: ['dev', 'ops'] });
    const user = await ask([], certificate);
    expect(user).toMatchObject({ name: 'jo', groups: ['dev', 'ops'] });
    expect(user?.extra?.['authentication.kubernetes.io/credential-id']?.[0]).toMatch(
      /^X509SHA256=[0-9a-f]{64}$/,
    );
  });

  it('keeps names that are not ASCII', async () => {
    expect(await ask([], await users.issue({ name: 'jörg@example' }))).toMatchObject({
      name: 'jörg@example',
    });
  });

  it('takes precedence over a token, and a token over a certificate of an unknown authority', async () => {
    const token = [['Authorization', 'Bearer good']] as const;
    expect(await ask(token, await users.issue({ name: 'jo' }))).toMatchObject({ name: 'jo' });
    expect(await ask(token, await unknownAuthority.issue({ name: 'jo' }))).toMatchObject({
      name: 'by-token',
    });
  });
});

describe('a bearer token', () => {
  it.each(['Bearer good', 'bearer  good', ' BEARER good'])('is read from %j', async (header) => {
    expect(await ask([['Authorization', header]])).toMatchObject({ name: 'by-token' });
  });

  it.each(['Basic Z29vZA==', 'Bearer', 'Bearer ', 'good'])('is not read from %j', async (header) => {
    expect(await ask([['Authorization', header]])).toBeUndefined();
  });

  it('that is invalid is refused', async () => {
    await expect(ask([['Authorization', 'Bearer bad']])).rejects.toMatchObject({ code: 'Unauthorized' });
  });
});
