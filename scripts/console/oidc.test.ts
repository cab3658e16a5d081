import tls from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createAuthority } from '../../shared/base/testing/authority.ts';
import { type Issuer, signInAtIssuer, startIssuer } from '../../test/fixtures/issuer.ts';
import { createSignOn, pasted, type SignOn } from './oidc.ts';

const redirectUri = 'https://arc.example.com/sign-in/callback';
const minuteMs = 60_000;
let issuer: Issuer;
let signOn: SignOn;

beforeAll(async () => {
  const authority = await createAuthority('issuers');
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), authority.cert]);
  issuer = await startIssuer({ authority, redirectUri, people: { ann: ['movers'] }, seconds: 600 });
  signOn = createSignOn({ issuer: issuer.url, scopes: 'openid email profile', redirectUri, ...issuer });
});
afterAll(() => issuer[Symbol.asyncDispose]());
afterEach(() => vi.useRealTimers());

async function begin() {
  const { url, pending } = await signOn.begin();
  const back = await signInAtIssuer(url, 'ann', redirectUri);
  return { url, pending, query: back.searchParams };
}

function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}

describe('a sign-in by OpenID Connect', () => {
  it('gives the ID token as the credential, and asks with PKCE, state and nonce', async () => {
    const { url, pending, query } = await begin();
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      state: pending.state,
      nonce: pending.nonce,
      redirect_uri: redirectUri,
    });
    const credential = await signOn.finish(query, pending);
    expect(claimsOf(await credential.token())).toMatchObject({
      iss: issuer.url,
      aud: issuer.clientId,
      sub: 'ann',
      groups: ['movers'],
    });
  });

  it.each(['state', 'nonce', 'verifier'] as const)('is refused with another %s', async (name) => {
    const { pending, query } = await begin();
    const other = { ...pending, [name]: (await signOn.begin()).pending[name] };
    await expect(signOn.finish(query, other)).rejects.toMatchObject({ code: 'Unauthorized' });
  });

  it('is refused the second time, and where another issuer answers', async () => {
    const { pending, query } = await begin();
    await signOn.finish(query, pending);
    await expect(signOn.finish(query, pending)).rejects.toMatchObject({ code: 'Unauthorized' });
    const next = await begin();
    next.query.set('iss', 'https://evil.example.com');
    await expect(signOn.finish(next.query, next.pending)).rejects.toMatchObject({ code: 'Unauthorized' });
  });

  it('says what the issuer said', async () => {
    const { pending } = await signOn.begin();
    const query = new URLSearchParams({ error: 'access_denied', state: pending.state, iss: issuer.url });
    const finished = signOn.finish(query, pending);
    await expect(finished).rejects.toThrow('the issuer did not sign you in: access_denied');
  });

  it('says that the issuer cannot be reached, and asks it again', async () => {
    const away = createSignOn({
      issuer: 'https://127.0.0.1:1',
      clientId: 'x',
      scopes: 'openid',
      redirectUri,
    });
    for (const _ of [1, 2])
      await expect(away.begin()).rejects.toThrow('the issuer https://127.0.0.1:1 cannot be reached: ');
  });
});

describe('an ID token', () => {
  async function signedIn() {
    const { pending, query } = await begin();
    return signOn.finish(query, pending);
  }
  const later = (ms: number) => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });

  it('is renewed before it expires, once for all who wait, by refresh tokens that are used once', async () => {
    const credential = await signedIn();
    const first = await credential.token();
    issuer.answered.length = 0;
    for (const round of [1, 2]) {
      later(9.5 * minuteMs);
      const tokens = await Promise.all([credential.token(), credential.token(), credential.token()]);
      expect(new Set(tokens).size).toBe(1);
      expect(tokens[0]).not.toBe(first);
      expect(issuer.answered).toEqual(Array(round).fill('refresh_token 200'));
    }
  });

  it('is over where it expires and cannot be renewed: revoked tokens do not come back', async () => {
    const credential = await signedIn();
    await credential.revoke();
    expect(await credential.token()).toContain('.');
    later(11 * minuteMs);
    await expect(credential.token()).rejects.toMatchObject({ code: 'Unauthorized' });
  });

  it('is over where the issuer refuses to renew it, and not before it expires', async () => {
    const credential = await signedIn();
    issuer.forgetPeople();
    later(9.5 * minuteMs);
    expect(await credential.token()).toContain('.');
    later(minuteMs);
    await expect(credential.token()).rejects.toMatchObject({ code: 'Unauthorized' });
  });
});

it.each(['', ' ', 'a b', 'a\r\nx: y', 'ä', undefined, '{"a":1}'])('takes no %j for a token', (text) => {
  expect(() => pasted(text)).toThrow('this is no token');
});
