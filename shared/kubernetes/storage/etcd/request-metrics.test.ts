import { expect, it } from 'vitest';
import { createMetrics } from '#shared/base/telemetry';
import { makeStore } from './open-etcd.ts';
import { FakeEtcd } from './testing/fake-etcd.ts';

it('counts calls and failures by operation, group and resource', async () => {
  const metrics = createMetrics();
  const store = makeStore(new FakeEtcd(), { metrics });
  const key = '/registry/arc.example/orders/ns/a';
  const created = await store.create(key, Buffer.from('1'));
  if (!created.ok) throw new Error('it was there already');
  await store.update(key, Buffer.from('2'), created.revision);
  await store.get('/registry/core/namespaces/ns');
  await store.list('/registry/arc.example/orders/');
  await expect(store.list('/registry/arc.example/orders/', { revision: 1000 })).rejects.toThrow();
  await store.close();
  await expect(store.delete(key, created.revision)).rejects.toThrow('closed');

  const samples = metrics
    .expose()
    .split('\n')
    .filter((line) => /^etcd_request(s_total|_errors_total|_duration_seconds_count)/.test(line));
  const of = (operation: string, group = 'arc.example', resource = 'orders') =>
    `{operation="${operation}",group="${group}",resource="${resource}"}`;
  for (const name of ['etcd_requests_total', 'etcd_request_duration_seconds_count']) {
    expect(samples).toContain(`${name}${of('create')} 1`);
    expect(samples).toContain(`${name}${of('update')} 1`);
    expect(samples).toContain(`${name}${of('delete')} 1`);
    expect(samples).toContain(`${name}${of('get', '', 'namespaces')} 1`);
    expect(samples).toContain(`${name}${of('list')} 2`);
  }
  expect(samples).toContain(`etcd_request_errors_total${of('list')} 1`);
  expect(samples).toContain(`etcd_request_errors_total${of('delete')} 1`);
  expect(samples.filter((line) => line.startsWith('etcd_request_errors_total'))).toHaveLength(2);
});
