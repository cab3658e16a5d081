import { afterEach, describe, expect, it } from 'vitest';
import type { AdmissionPlugin } from '../admission/plugin.ts';
import type { ApiServerOptions } from '../server/server.ts';
import {
  applyType,
  jsonPatchType,
  startTestServer,
  type TestServer,
  widget,
  widgets,
} from '../testing/test-server.ts';
import { parseAuditPolicy } from './audit-policy.ts';

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
});

/** The audit events of what `act` does under a policy of these rules. */
async function recorded(
  rules: string,
  act: (server: TestServer) => Promise<unknown>,
  more: Partial<ApiServerOptions> = {},
) {
  const lines: string[] = [];
  const policy = parseAuditPolicy(`apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n${rules}`);
  server = await startTestServer({ audit: { policy, write: (line) => lines.push(line) }, ...more });
  lines.length = 0;
  await act(server);
  await server.close(); // what was still being written is there
  server = undefined;
  return lines.map((line) => JSON.parse(line));
}

describe('the audit log', () => {
  it("records user, verb, object and result, and keeps the caller's Audit-ID", async () => {
    const events = await recorded(
      '- { level: Metadata, omitStages: [RequestReceived] }',
      async ({ call }) => {
        const headers = { 'audit-id': 'mine', 'user-agent': 'tester' };
        expect((await call('GET', `${widgets}/none?a=b`, undefined, headers)).headers.get('audit-id')).toBe(
          'mine',
        );
      },
    );
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'Metadata',
      auditID: 'mine',
      stage: 'ResponseComplete',
      requestURI: `${widgets}/none?a=b`,
      verb: 'get',
      user: { username: 'admin', groups: ['system:authenticated'] },
      userAgent: 'tester',
      objectRef: { resource: 'widgets', namespace: 'ns', name: 'none', apiVersion: 'v1' },
      responseStatus: { code: 404 },
      annotations: { 'authorization.k8s.io/decision': 'allow' },
    });
    expect(events[0].requestReceivedTimestamp).toMatch(/^\d{4}-.*\.\d{6}Z$/);
    expect(events[0]).not.toHaveProperty('requestObject');
  });

  it('records bodies at the levels of the policy', async () => {
    const rules = '- { level: RequestResponse, verbs: [create] }\n- { level: Request, verbs: [patch] }';
    const events = await recorded(rules, async ({ call }) => {
      expect((await call('POST', widgets, widget('a'))).body.metadata.name).toBe('a');
      await call('PATCH', `${widgets}/a`, [{ op: 'add', path: '/spec/size', value: 3 }], jsonPatchType);
      await call('GET', `${widgets}/a`);
    });
    expect(events.map(({ verb, stage }) => `${verb} ${stage}`)).toEqual([
      'create RequestReceived',
      'create ResponseComplete',
      'patch RequestReceived',
      'patch ResponseComplete',
    ]);
    expect(events[1].requestObject).toMatchObject({ kind: 'Widget', metadata: { name: 'a' } });
    expect(events[1].responseObject).toMatchObject({ spec: { color: 'red' } });
    expect(events[3].requestObject).toEqual([{ op: 'add', path: '/spec/size', value: 3 }]);
    expect(events[3]).not.toHaveProperty('responseObject');
  });

  it('records refused requests, with the user if it is known', async () => {
    const events = await recorded('- { level: Metadata }', async ({ call }) => {
      await call('GET', widgets, undefined, { authorization: 'Bearer bad' });
      await call('GET', widgets, undefined, { authorization: 'Bearer jo' });
    });
    expect(events.filter(({ stage }) => stage === 'ResponseComplete')).toMatchObject([
      { responseStatus: { code: 401 }, user: {} },
      {
        responseStatus: { code: 403 },
        user: { username: 'jo' },
        annotations: { 'authorization.k8s.io/decision': 'forbid' },
      },
    ]);
  });

  it('records the start of a watch, and both users of an impersonation', async () => {
    const events = await recorded('- { level: Metadata, verbs: [watch] }', async ({ fetch }) => {
      const headers = { 'impersonate-user': 'admin' };
      const response = await fetch(`${widgets}?watch=true`, { headers });
      await response.body?.cancel();
    });
    expect(events.map(({ stage }) => stage)).toEqual([
      'RequestReceived',
      'ResponseStarted',
      'ResponseComplete',
    ]);
    expect(events[0]).toMatchObject({
      user: { username: 'admin' },
      impersonatedUser: { username: 'admin', groups: ['system:authenticated'] },
    });
  });

  it('names the created object, and the reason of a refusal', async () => {
    const rules = '- { level: Metadata, omitStages: [RequestReceived] }';
    const events = await recorded(rules, async ({ call }) => {
      await call('POST', widgets, widget('', {}, { generateName: 'w-' }));
      await call('GET', `${widgets}/none`);
    });
    expect(events[0].objectRef).toMatchObject({
      name: expect.stringMatching(/^w-\w{5}$/),
      uid: expect.stringMatching(/^[\w-]{36}$/),
    });
    expect(events[1].responseStatus).toMatchObject({
      status: 'Failure',
      code: 404,
      reason: 'NotFound',
      message: 'widgets.test.example.com "none" not found',
    });
  });

  it('records YAML as JSON, marks large bodies as truncated, and omits managedFields per policy', async () => {
    const rules =
      '- { level: RequestResponse, omitStages: [RequestReceived], verbs: [patch], omitManagedFields: true }\n- { level: Request, omitStages: [RequestReceived] }';
    const large = widget('large', { free: { text: 'x'.repeat(1_100_000) } });
    const events = await recorded(rules, async ({ call }) => {
      const yaml =
        'apiVersion: test.example.com/v1\nkind: Widget\nmetadata: { name: a }\nspec: { size: 1 }\n';
      await call('PATCH', `${widgets}/a?fieldManager=m`, yaml, applyType);
      await call('POST', widgets, large);
    });
    expect(events[0].requestObject).toMatchObject({ kind: 'Widget', spec: { size: 1 } });
    expect(events[0].responseObject.metadata).not.toHaveProperty('managedFields');
    expect(events[1]).not.toHaveProperty('requestObject');
    expect(events[1].annotations).toMatchObject({ 'audit.k8s.io/truncated': 'true' });
    expect(events[1].objectRef.name).toBe('large');
  });

  it('ends with Panic after an internal failure, without its message', async () => {
    const broken: AdmissionPlugin = {
      name: 'Broken',
      validate: async ({ kind }) => void (kind.kind === 'Widget' && JSON.parse('secret')),
    };
    const events = await recorded(
      '- { level: RequestResponse, verbs: [create] }',
      async ({ call }) => {
        expect((await call('POST', widgets, widget('a'))).status).toBe(500);
      },
      { admission: [broken] },
    );
    expect(events.map(({ stage }) => stage)).toEqual(['RequestReceived', 'Panic']);
    expect(events[1].responseStatus).toMatchObject({ code: 500, reason: 'InternalError' });
    expect(JSON.stringify(events)).not.toContain('secret');
  });

  it('contains no credentials', async () => {
    const events = await recorded('- { level: RequestResponse }', async ({ call }) => {
      await call('GET', widgets, undefined, { authorization: 'Bearer admin', cookie: 'session=hunter2' });
      await call('GET', widgets, undefined, { authorization: 'Bearer bad' });
    });
    expect(events.length).toBeGreaterThan(2);
    expect(JSON.stringify(events)).not.toMatch(/Bearer|bearer|hunter2|cookie/);
  });
});
