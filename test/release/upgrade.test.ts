import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  arcPath,
  type Cluster,
  corePath,
  describeCluster,
  startCluster,
} from '../fixtures/cluster/cluster.ts';
import { newNamespace, newOrder } from '../fixtures/cluster/cluster-objects.ts';
import { checkOut, type EarlierTree } from '../fixtures/cluster/earlier-tree.ts';
import { startLoad } from '../fixtures/cluster/load.ts';

/** Trees that somebody may run: that of 2026-11-21, and every release since. */
const earlier = ['a2e66d5'];

for (const commit of earlier)
  describeCluster(
    `two API servers of ${commit} that are replaced by those of this tree, and back`,
    (machine) => {
      let tree: EarlierTree;
      let cluster: Cluster;

      beforeAll(async () => {
        tree = await checkOut(commit);
        cluster = await startCluster(machine, {
          store: 'etcd',
          instances: 2,
          delaySeconds: 5,
          tree: tree.folder,
        });
        await cluster.api.must('POST', corePath('namespaces'), newNamespace('upgrade'));
      }, 180_000);
      afterAll(async () => {
        await cluster?.stop();
        await tree?.remove();
      }, 60_000);

      it('fail no request, lose no event and keep every object', async () => {
        const { plane, ours, api } = cluster;
        const before = await api.must('POST', arcPath('orders', 'upgrade'), newOrder({ name: 'before' }));
        const following = new AbortController();
        const { ready, done } = ours.followReadiness(following.signal);
        const direct = new Map(ours.instances.map((each) => [each, plane.admin(each.url)]));
        const behindSlice = () => direct.get(ready()[0] ?? ours.first) ?? api;
        const load = await startLoad('upgrade', [() => api, behindSlice]);
        await load.more(50);
        for (const next of [process.cwd(), tree.folder])
          for (const instance of ours.instances) {
            expect(await instance.stop()).toBe(0);
            await load.more(50);
            await instance.start(next);
            await load.more(50);
            const name = `at-${instance.port}-${next === tree.folder ? 'back' : 'on'}`;
            await api.must('POST', arcPath('orders', 'upgrade'), newOrder({ name }));
          }
        await load.finish();
        expect(load.outcome.failures).toEqual([]);
        following.abort();
        await done;
        const { items = [] } = await api.must('GET', arcPath('orders', 'upgrade'));
        expect(items).toHaveLength(5);
        const same = items.find(({ metadata }) => metadata.name === 'before');
        expect(same).toEqual(expect.objectContaining({ metadata: before.metadata, spec: before.spec }));
      }, 400_000);
    },
  );
