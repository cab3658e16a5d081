import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { attacked, many, orders, refused } from './attacked.ts';

const server = attacked();

describe('addresses and parameters', () => {
  it.each(['x%2Fy', '..%2f..%2fetc%2fpasswd', '%00', 'a%00b', '%', '%zz', '%ff', 'x%25', '%2e%2e%2f'])(
    'the name %s is refused',
    async (name) => {
      refused(await server.send('GET', `${orders}/${name}`), 400);
    },
  );

  it.each([
    '/..',
    '/orders',
    '/api/v2/x',
    '/apis/x/y/z',
    `/apis/${'x/'.repeat(3000)}`,
    '/healthz/../../etc/passwd',
  ])('nothing is found at %s', async (path) => {
    expect((await server.send('GET', path)).code).toBe(404);
  });

  const token = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const key = 'meta.k8s.io/v1';
  it.each<[string, number]>([
    ['limit=1e3', 400],
    ['limit=99999999999999999999', 400],
    ['continue=x', 400],
    [`continue=${token(null)}`, 400],
    [`continue=${token({ v: key, rv: 1, start: '../../secrets\0' })}`, 400],
    [`continue=${token({ v: key, rv: 1, start: {} })}`, 400],
    [`continue=${token({ v: key, rv: 999_999, start: 'a\0' })}`, 400],
    [`continue=${'A'.repeat(10_000)}`, 400],
    ['resourceVersion=x', 400],
    ['resourceVersion=-1', 400],
    ['resourceVersion=0x10', 400],
    ['resourceVersion=99999999999999999999', 400],
    ['resourceVersion=1&resourceVersionMatch=Any', 422],
    ['resourceVersionMatch=Exact', 422],
    ['labelSelector=a%20in%20(', 400],
    ['labelSelector=((((', 400],
    ['labelSelector=a,,b', 400],
    ['labelSelector=%00', 400],
    [`labelSelector=a%3D${'b'.repeat(64)}`, 400],
    ['fieldSelector=spec.x%3D1', 400],
    ['fieldSelector=metadata.name', 400],
    ['timeoutSeconds=-1', 400],
    ['sendInitialEvents=true', 422],
    ['watch=1&resourceVersion=x', 400],
    ['watch=1&sendInitialEvents=x', 422],
    ['watch=1&labelSelector=%3D', 400],
    ['watch=1&timeoutSeconds=1e9', 400],
    ['watch=1&resourceVersion=1&resourceVersionMatch=Exact', 422],
  ])('%s is refused', async (query, code) => {
    refused(await server.send('GET', `${orders}?${query}`), code);
  });

  it('a revision still to come is answered after a while, so that the client asks again', async () => {
    const answer = await server.send('GET', `${orders}?resourceVersion=999999`);
    expect(refused(answer, 504).message).toContain('Too large resource version: 999999');
  });

  it('what cannot be sent is not acceptable, and what cannot be done is not allowed', async () => {
    for (const accept of ['text/html', 'garbage', ';;;', 'application/json;as=Foo;g=meta.k8s.io;v=v1']) {
      refused(await server.send('GET', orders, { headers: { accept } }), 406);
    }
    for (const method of ['PUT', 'PATCH']) refused(await server.send(method, orders, { body: '{}' }), 400);
    for (const method of ['PROPFIND', 'OPTIONS'])
      refused(await server.send(method, orders, { body: '{}' }), 405);
    refused(await server.send('POST', `${orders}/target`, { body: '{}' }), 405);
    refused(await server.send('GET', orders, { headers: { authorization: 'Bearer nobody' } }), 401);
    refused(await server.send('GET', orders, { headers: { authorization: 'Basic eDp5' } }), 401);
  });

  it.each<[unknown, number]>([
    [5, 400],
    [{ kind: 'Order' }, 400],
    [{ propagationPolicy: 'x' }, 422],
    [{ propagationPolicy: 5 }, 400],
    [{ orphanDependents: 'true' }, 400],
    [{ gracePeriodSeconds: '0' }, 400],
    [{ preconditions: 5 }, 400],
    [{ preconditions: { uid: 5 } }, 400],
    [{ preconditions: { uid: 'x' } }, 409],
    [{ preconditions: { resourceVersion: 'x' } }, 409],
    [{ dryRun: ['x'] }, 422],
    [{ dryRun: 'All' }, 400],
    [{ orphanDependents: true, propagationPolicy: 'Orphan' }, 422],
  ])('to delete with %j is refused', async (options, code) => {
    refused(await server.send('DELETE', `${orders}/target`, { body: JSON.stringify(options) }), code);
  });
});

describe('headers', () => {
  const path = `${orders}/target`;
  const get = (headers: Record<string, string>) => server.send('GET', path, { headers });

  it('of any length and number that fit into a head are passed over', async () => {
    const long = { 'x-long': 'a'.repeat(60_000) };
    const numerous = Object.fromEntries(many(1_500, (at) => [`x-${at}`, 'a']));
    const odd = { __proto__: 'a', constructor: 'b', 'x-latin': 'caf\u00e9', 'x-empty': '' };
    for (const headers of [long, numerous, odd]) expect((await get(headers)).code).toBe(200);
  });

  it('that would be echoed are replaced where they are no ids', async () => {
    for (const id of ['a b', 'x'.repeat(65), 'a\u00e9']) {
      expect((await get({ 'audit-id': id })).headers['audit-id']).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it('that speak for others count for nothing without a front proxy', async () => {
    const who = await server.send('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      body: '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}',
      headers: { 'x-remote-user': 'system:somebody', 'x-remote-group': 'somebodies' },
    });
    expect(who.code).toBe(201);
    expect(who.text).toContain('"username":"admin"');
    expect(who.text).not.toMatch(/somebod/);
  });

  it.each<[Record<string, string>, number]>([
    [{ 'impersonate-group': 'system:masters' }, 400],
    [{ 'impersonate-user': '', 'impersonate-uid': 'x' }, 400],
    [{ 'impersonate-user': 'nobody', 'impersonate-extra-%zz': 'x' }, 403],
    [{ 'impersonate-user': 'nobody', 'impersonate-extra-__proto__': 'x' }, 403],
    [{ 'impersonate-user': 'x'.repeat(50_000) }, 403],
  ])('impersonating by %j is answered with a Status', async (headers, code) => {
    refused(await get(headers), code);
  });

  it.each(['gzip', 'deflate', 'br', 'zstd', 'gzip, gzip', 'identity, gzip', 'x'])(
    'the content encoding %s is refused, and nothing is unpacked',
    async (coding) => {
      const body = gzipSync(Buffer.alloc(50_000_000));
      for (const method of ['POST', 'PATCH', 'PUT', 'DELETE']) {
        const at = method === 'POST' ? orders : path;
        const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
        const answer = await server.send(method, at, { body, type, headers: { 'content-encoding': coding } });
        expect(refused(answer, 415).message).toContain(`"${coding}"`);
      }
    },
  );
});
