import { describe, expect, it } from 'vitest';
import { createReach, isSameServer, matchesHost, realmAccess } from './reach.ts';

const at = (text: string) => new URL(text);

describe('the server of an Endpoint', () => {
  it.each([
    ['https://r.io', 'https://r.io/x', true],
    ['https://r.io', 'https://r.io:443/x', true],
    ['http://r.io', 'https://r.io/x', true],
    ['http://r.io:5000', 'https://r.io:5000/x', true],
    ['http://r.io:5000', 'https://r.io/x', false],
    ['http://r.io', 'https://r.io:8443/x', false],
    ['https://r.io', 'http://r.io/x', false],
    ['https://r.io', 'https://r.io:8443/x', false],
    ['https://r.io', 'https://r.io.evil.io/x', false],
  ])('at %s has %s: %s', (origin, url, same) => expect(isSameServer(at(origin), at(url))).toBe(same));
});

describe('the hosts that an Endpoint lists', () => {
  it.each<[string, string, boolean]>([
    ['cdn.io', 'https://cdn.io/x', true],
    ['cdn.io', 'http://cdn.io/x', true],
    ['cdn.io', 'https://cdn.io:9000/x', false],
    ['cdn.io:9000', 'https://cdn.io:9000/x', true],
    ['cdn.io:443', 'https://cdn.io/x', true],
    ['cdn.io:443', 'http://cdn.io/x', false],
    ['*.cdn.io', 'https://a.cdn.io/x', true],
    ['*.cdn.io', 'https://a.b.cdn.io/x', true],
    ['*.cdn.io', 'https://cdn.io/x', false],
    ['*.cdn.io', 'https://evilcdn.io/x', false],
    ['*.cdn.io', 'https://a.cdn.io:9000/x', false],
    ['*.cdn.io:9000', 'https://a.cdn.io:9000/x', true],
    ['[fd00::1]:9000', 'http://[fd00::1]:9000/x', true],
  ])('as %s include %s: %s', (pattern, url, named) => expect(matchesHost([pattern], at(url))).toBe(named));
});

describe('the reach of an Endpoint', () => {
  const reach = createReach({
    endpoint: 'e',
    origin: () => at('https://r.io'),
    redirectHosts: ['store.internal:9000', '10.0.0.9'],
    tokenHosts: ['auth.io'],
  });

  it.each([
    [
      'https://r.io/v2/',
      { server: 'own', credentials: true, writing: true, publicOnly: false, quotable: true },
    ],
    ['https://store.internal:9000/', { server: 'named', credentials: false, writing: true, quotable: false }],
    ['https://auth.io/', { server: 'named', credentials: true, writing: false, quotable: false }],
    ['https://cdn.io/', { server: 'other', credentials: false, writing: false, publicOnly: true }],
  ])('at %s is %j', (url, access) => expect(reach.access(at(url))).toMatchObject(access));

  it.each<['GET' | 'PUT', string, string, string | undefined]>([
    ['GET', 'https://cdn.io/x', 'https://r.io/', undefined],
    ['GET', 'https://10.0.0.9/x', 'https://r.io/', undefined],
    ['PUT', 'https://10.0.0.9/x', 'https://r.io/', undefined],
    ['GET', 'http://cdn.io/x', 'https://r.io/', 'over http'],
    ['GET', 'https://10.0.0.8/x', 'https://r.io/', 'private network'],
    ['GET', 'https://[fd00::1]/x', 'https://r.io/', 'private network'],
    ['GET', 'https://[64:ff9b::a00:1]/x', 'https://r.io/', 'private network'],
    ['PUT', 'https://cdn.io/x', 'https://r.io/', 'spec.redirectHosts'],
    ['PUT', 'https://auth.io/x', 'https://r.io/', 'spec.redirectHosts'],
  ])('for %s of %s, to which %s refers: %s', (method, url, from, why) => {
    const refusal = reach.refusal(method, at(url), at(from));
    if (why === undefined) expect(refusal).toBeUndefined();
    else expect(refusal).toContain(why);
  });
});

describe('the token service of a registry', () => {
  // As their registries name them.
  it.each([
    ['https://registry-1.docker.io', 'https://auth.docker.io/token'],
    ['https://ghcr.io', 'https://ghcr.io/token'],
    ['https://registry.gitlab.com', 'https://gitlab.com/jwt/auth'],
    ['https://gitlab.example.com:5050', 'https://gitlab.example.com/jwt/auth'],
    ['https://quay.io', 'https://quay.io/v2/auth'],
    ['https://gcr.io', 'https://gcr.io/v2/token'],
    ['https://harbor.example.com', 'https://harbor.example.com/service/token'],
    ['https://team.azurecr.io', 'https://team.azurecr.io/oauth2/token'],
  ])('of %s receives the credentials at %s, even in a private network', (origin, realm) => {
    const about = { origin: at(origin), tokenHosts: [] };
    const inside = realmAccess(at(realm), { ...about, fromPublic: false });
    expect(inside).toMatchObject({ credentials: true, publicOnly: false });
    const { publicOnly, server } = realmAccess(at(realm), { ...about, fromPublic: true });
    expect(publicOnly).toBe(server !== 'own');
  });

  it('at any other host is used anonymously, and only at a public address', () => {
    const about = { origin: at('https://r.io'), tokenHosts: [], fromPublic: false };
    const stranger = { credentials: false, publicOnly: true, quotable: false };
    expect(realmAccess(at('https://auth.io/token'), about)).toMatchObject(stranger);
    expect(realmAccess(at('https://auth.io/token'), { ...about, tokenHosts: ['auth.io'] })).toMatchObject({
      credentials: true,
      publicOnly: false,
    });
  });
});
