import { afterEach, describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { createMetrics } from '#shared/base/telemetry';
import { startTestServer, type TestServer, widget, widgets } from '../testing/test-server.ts';
import { processMetrics } from './process-metrics.ts';

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
});

describe('/metrics', () => {
  it('counts requests under the standard names, for users who may read it', async () => {
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
    for (const name of ['resident_memory_bytes', 'virtual_memory_bytes', 'open_fds', 'max_fds']) {
      expect(text).toMatch(new RegExp(`\\nprocess_${name} [1-9]\\d*\\n`));
    }
    expect((await server.call('GET', '/metrics', undefined, { authorization: 'Bearer jo' })).status).toBe(
      403,
    );
  });

  it('counts authentications and authorizations by result', async () => {
    const metrics = createMetrics();
    server = await startTestServer({
      metrics,
      authorize: async (user, attributes) => {
        if (user.name === 'lost') throw new ArcError('ServiceUnavailable', 'no connection');
        return { allowed: user.name === 'admin' && attributes.isResourceRequest };
      },
    });
    for (const name of ['admin', 'bad', 'jo', 'lost'])
      await server.call('GET', widgets, undefined, { authorization: `Bearer ${name}` });
    const text = metrics.expose();
    for (const line of [
      'authentication_attempts{result="success"} 4', // one made the namespace
      'authentication_attempts{result="failure"} 1',
      'authorization_attempts_total{result="allowed"} 2',
      'authorization_attempts_total{result="denied"} 1',
      'authorization_attempts_total{result="error"} 1',
      'authorization_duration_seconds_count{result="denied"} 1',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
  });
});
