import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../shared/base/testing/eventually.ts';
import {
  arcPath,
  type Cluster,
  corePath,
  describeCluster,
  startCluster,
} from '../fixtures/cluster/cluster.ts';
import { newNamespace, newOrder } from '../fixtures/cluster/cluster-objects.ts';
import { type EtcdProcess, startEtcd } from '../fixtures/etcd/process.ts';

describeCluster('an API server whose etcd is away', (machine) => {
  let cluster: Cluster;
  let etcd: EtcdProcess;

  beforeAll(async () => {
    etcd = await startEtcd(path.join(machine.assets, 'etcd'));
    cluster = await startCluster(machine, { store: 'etcd', etcd: etcd.endpoint });
    await cluster.api.must('POST', corePath('namespaces'), newNamespace('team'));
    await cluster.api.must('POST', arcPath('orders', 'team'), newOrder({ name: 'a' }));
  }, 180_000);
  afterAll(async () => {
    await cluster?.stop();
    await etcd?.stop();
  }, 60_000);

  it.each<[string, () => Promise<unknown>, () => Promise<unknown>]>([
    ['ends', () => etcd.kill(), () => etcd.restart()],
    ['hangs', async () => process.kill(etcd.pid, 'SIGSTOP'), async () => process.kill(etcd.pid, 'SIGCONT')],
  ])(
    'that %s answers every request within the documented time, and goes on when it is back',
    async (how, leave, comeBack) => {
      const { api } = cluster;
      await leave();
      /** Each in ms; the documented 10 s, and as much as a busy machine takes besides. */
      const asked = async (method: string, of: string, body?: unknown) => {
        const began = performance.now();
        const reply = await api.send(method, of, body);
        return { code: reply.code, ms: performance.now() - began };
      };
      const order = arcPath('orders', 'team', 'a');
      const requests = () =>
        Promise.all([
          asked('GET', arcPath('orders', 'team')),
          asked('GET', order),
          asked('POST', arcPath('orders', 'team'), newOrder({ name: `b-${how}` })),
          asked('PATCH', order, { metadata: { labels: { how } } }),
          asked('DELETE', order),
        ]);
      for (const { code: answered, ms } of await requests()) {
        expect([503, 504]).toContain(answered);
        expect(ms).toBeLessThan(16_000);
      }
      // It is known to be away: nobody waits for it all over again.
      for (const { code: answered, ms } of await requests()) {
        expect([503, 504]).toContain(answered);
        expect(ms).toBeLessThan(6_000);
      }
      expect((await asked('GET', `${arcPath('orders', 'team')}?resourceVersion=0`)).code).toBe(200);
      await comeBack();
      await eventually('requests to be answered again', 60_000, async () => {
        await sleep(200);
        await api.must('POST', arcPath('orders', 'team'), newOrder({ name: `after-${how}` }));
      });
    },
    180_000,
  );
});
