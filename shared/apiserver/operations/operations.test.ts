import { afterEach, describe, expect, it } from 'vitest';
import { createMetrics } from '#shared/telemetry';
import { jsonPatchType, startTestServer, type TestServer, widget, widgets } from '../test-server.ts';
import { parseAuditPolicy } from './audit-policy.ts';
import { processMetrics } from './process-metrics.ts';

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
});

/** The audit events of what `act` does under a policy of these rules. */
async function recorded(rules: string, act: (server: TestServer) => Promise<unknown>) {
  const lines: string[] = [];
  const policy = parseAuditPolicy(`apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n${rules}`);
  server = await startTestServer({ audit: { policy, write: (line) => lines.push(line) } });
  lines.length = 0;
  await act(server);
  await server.close(); // what was still being written is there
  server = undefined;
  return lines.map((line) => JSON.parse(line));
}

describe('the audit log', () => {
  it('says who did what with which outcome, and keeps the Audit-ID of the caller', async () => {
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

  it('records bodies where the policy asks for them', async () => {
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

  it('records who was refused, before and after it is known who they are', async () => {
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

  it('tells the beginning of a watch, and both users of an impersonation', async () => {
    const events = await recorded('- { level: Metadata, verbs: [watch] }', async ({ fetch }) => {
      const headers = { 'impersonate-user': 'admin' };
      const response = await fetch(`${widgets}?watch=true`, { headers });
      await response.body?.cancel();
    });
    expect(events.map(({ stage }) => stage)).toContain('ResponseStarted');
    expect(events[0]).toMatchObject({
      user: { username: 'admin' },
      impersonatedUser: { username: 'admin', groups: ['system:authenticated'] },
    });
  });
});

describe('/metrics', () => {
  it('counts requests under the standard names, for those who may read it', async () => {
    const metrics = createMetrics();
    processMetrics(metrics);
    server = await startTestServer({ metrics });
    await server.call('POST', widgets, widget('a'));
    await server.call('GET', `${widgets}?labelSelector=a`);
    await server.call('GET', `${widgets}/a`);
    await server.call('GET', `${widgets}/${'x'.repeat(50)}?dryRun=All`);
    const { text, headers } = await server.call('GET', '/metrics');
    expect(headers.get('content-type')).toContain('text/plain; version=0.0.4');
    const labels = (verb: string, scope: string) =>
      `verb="${verb}",group="test.example.com",version="v1",resource="widgets",subresource="",scope="${scope}",component="apiserver"`;
    expect(text).toContain(
      `apiserver_request_total{${labels('POST', 'namespace')},dry_run="",code="201"} 1\n`,
    );
    expect(text).toContain(
      `apiserver_request_total{${labels('LIST', 'namespace')},dry_run="",code="200"} 1\n`,
    );
    expect(text).toContain(
      `apiserver_request_total{${labels('GET', 'resource')},dry_run="All",code="404"} 1\n`,
    );
    expect(text).toContain(
      `apiserver_request_duration_seconds_count{${labels('GET', 'resource')},dry_run=""} 1\n`,
    );
    expect(text).toContain('apiserver_resource_objects{group="test.example.com",resource="widgets"} 1\n');
    expect(text).toMatch(/\nprocess_resident_memory_bytes \d+\n/);
    expect((await server.call('GET', '/metrics', undefined, { authorization: 'Bearer jo' })).status).toBe(
      403,
    );
  });
});

describe('limits', () => {
  it('answer 429 with Retry-After, and leave health checks and watches alone', async () => {
    const limits = { readOnly: 0, mutating: 1 };
    server = await startTestServer({ limits });
    const refused = await server.call('GET', widgets);
    expect(refused).toMatchObject({ status: 429, body: { reason: 'TooManyRequests' } });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await server.call('GET', '/livez')).status).toBe(200);
    const watch = await server.fetch(`${widgets}?watch=true`);
    expect(watch.status).toBe(200);
    await watch.body?.cancel();
  });
});

describe('drain', () => {
  it('fails /readyz at once, keeps /livez, and serves on', async () => {
    server = await startTestServer();
    server.api.drain();
    expect(await server.call('GET', '/readyz')).toMatchObject({ status: 500 });
    expect((await server.call('GET', '/readyz')).text).toContain('[-]shutdown failed: reason withheld');
    expect((await server.call('GET', '/readyz?exclude=shutdown&verbose')).text).toContain(
      '[+]shutdown excluded: ok',
    );
    expect((await server.call('GET', '/livez')).status).toBe(200);
    expect((await server.call('POST', widgets, widget('late'))).status).toBe(201);
  });
});
