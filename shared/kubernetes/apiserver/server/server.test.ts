import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { group, startTestServer, type TestServer, widget, widgets } from '../testing/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const as = (user: string) => ({ authorization: `Bearer ${user}` });

describe('authorization', () => {
  it('is checked for every resource; the refusal has the text of Kubernetes', async () => {
    const { status, body, headers } = await server.call('PATCH', `${widgets}/n/status`, {}, as('eve'));
    expect(status).toBe(403);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(body.message).toBe(
      `widgets.${group} "n" is forbidden: User "eve" cannot patch resource "widgets/status" in API group "${group}" in the namespace "ns": only admin may`,
    );
    expect(body.details).toEqual({ name: 'n', group, kind: 'widgets' });
  });

  it('is checked for paths, but not for health checks', async () => {
    const { status, body } = await server.call('GET', '/metrics', undefined, as('eve'));
    expect(status).toBe(403);
    expect(body.message).toBe('forbidden: User "eve" cannot get path "/metrics": only admin may');
    expect((await server.call('GET', '/readyz', undefined, as('eve'))).text).toBe('ok');
  });

  it('is checked before a response shows what exists', async () => {
    expect((await server.call('GET', '/apis/unknown/v1/things', undefined, as('eve'))).status).toBe(403);
    expect((await server.call('GET', `${widgets}/nothing`, undefined, as('eve'))).status).toBe(403);
  });

  it('treats requests without credentials as anonymous and refuses invalid ones', async () => {
    const anonymous = await server.call('GET', widgets, undefined, { authorization: '' });
    expect(anonymous.body.message).toContain('User "system:anonymous" cannot list resource "widgets"');
    const bad = await server.call('GET', widgets, undefined, as('bad'));
    expect([bad.status, bad.body.reason, bad.body.message]).toEqual([401, 'Unauthorized', 'Unauthorized']);
  });

  it('allows system:masters everything; other users are in system:authenticated', async () => {
    const seen: string[] = [];
    const own = await startTestServer({
      authenticate: async (request) => {
        const name = request.headers.get('authorization') ?? '';
        return { name, groups: name.includes('admin') ? ['system:masters'] : [] };
      },
      authorize: async (user) => {
        seen.push(...user.groups);
        return { allowed: false };
      },
    });
    expect((await own.call('GET', widgets)).status).toBe(200);
    expect((await own.call('GET', widgets, undefined, as('eve'))).status).toBe(403);
    expect(seen).toEqual(['system:authenticated']);
    await own.close();
  });
});

describe('every response', () => {
  it("has an Audit-ID, the caller's own if it sent one", async () => {
    const { headers } = await server.call('GET', widgets, undefined, { 'audit-id': 'my-id' });
    expect(headers.get('audit-id')).toBe('my-id');
    expect((await server.call('GET', '/nowhere')).headers.get('audit-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.get('cache-control')).toBe('no-cache, private');
  });

  it('is a plain 404 for unknown paths, a Status 405 for verbs that a kind does not support', async () => {
    for (const path of ['/nowhere', `/apis/${group}/v1/nothings`, `/apis/${group}/v2/widgets`]) {
      const { status, text } = await server.call('GET', path);
      expect([status, text]).toEqual([404, '404 page not found\n']);
    }
    const absent = await server.call('GET', `${widgets}/w/scale`);
    expect([absent.status, absent.body.reason]).toEqual([404, 'NotFound']);
    const { status, body } = await server.call('DELETE', `${widgets}/w/status`);
    expect([status, body.reason]).toEqual([405, 'MethodNotAllowed']);
    const nameless = await server.call('PUT', widgets, {});
    expect([nameless.status, nameless.body.message]).toEqual([400, 'name must be provided']);
  });

  it('is indented for people and on request, like any response', async () => {
    const textFor = async (path: string, agent: string) =>
      (await server.call('GET', path, undefined, { 'user-agent': agent })).text;
    const indented = '{\n  "kind": "Status"';
    expect(await textFor(`${widgets}/absent`, 'curl/8.0')).toContain(indented);
    expect(await textFor(`${widgets}/absent?pretty=true`, 'kubectl')).toContain(indented);
    expect(await textFor(`${widgets}/absent?pretty=false`, 'curl/8.0')).not.toContain('\n');
    expect(await textFor(`${widgets}/absent`, 'kubectl')).not.toContain('\n');
  });

  it('hides the error of an internal failure, and the server keeps running', async () => {
    const own = await startTestServer({
      admission: [
        {
          name: 'Broken',
          validate: async ({ object }) => void (object?.kind === 'Widget' && JSON.parse('secret')),
        },
      ],
    });
    const { status, body } = await own.call('POST', widgets, widget('x'));
    expect(status).toBe(500);
    expect(body.reason).toBe('InternalError');
    expect(body.message).not.toContain('secret');
    expect(own.logged).toHaveLength(1);
    expect((await own.call('GET', widgets)).status).toBe(200);
    await own.close();
  });
});

describe('paths beside resources', () => {
  it('serve version, discovery and health', async () => {
    expect(JSON.parse((await server.call('GET', '/version')).text)).toMatchObject({
      gitVersion: expect.stringMatching(/^v1\./),
    });
    const { body } = await server.call('GET', `/apis/${group}/v1`);
    expect(body.kind).toBe('APIResourceList');
    expect((await server.call('GET', '/readyz?verbose')).text).toBe(
      '[+]ping ok\n[+]store ok\n[+]watch-cache ok\n[+]shutdown ok\nreadyz check passed\n',
    );
    expect((await server.call('GET', '/readyz/store')).text).toBe('ok');
    expect((await server.call('GET', '/openapi/v3')).status).toBe(200);
    const refused = await server.call('GET', '/apis', undefined, { accept: 'text/plain' });
    expect(refused.status).toBe(406);
  });
});

describe('drain', () => {
  it('makes /readyz fail immediately; /livez and all requests still succeed', async () => {
    const server = await startTestServer();
    server.api.drain();
    expect(await server.call('GET', '/readyz')).toMatchObject({ status: 500 });
    expect((await server.call('GET', '/readyz')).text).toContain('[-]shutdown failed: reason withheld');
    expect((await server.call('GET', '/readyz?exclude=shutdown&verbose')).text).toContain(
      '[+]shutdown excluded: ok',
    );
    expect((await server.call('GET', '/livez')).status).toBe(200);
    expect((await server.call('POST', widgets, widget('late'))).status).toBe(201);
    await server.close();
  });
});
