import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  arcPath,
  type Cluster,
  corePath,
  describeCluster,
  startCluster,
} from '../fixtures/cluster/cluster.ts';
import { newNamespace } from '../fixtures/cluster/cluster-objects.ts';
import { startLoad } from '../fixtures/cluster/load.ts';

describeCluster('two API servers that are restarted one after the other', (machine) => {
  let cluster: Cluster;

  beforeAll(async () => {
    // The delay of knative/base.
    cluster = await startCluster(machine, { store: 'etcd', instances: 2, delaySeconds: 5 });
    await cluster.api.must('POST', corePath('namespaces'), newNamespace('rollout'));
  }, 180_000);
  afterAll(() => cluster?.stop(), 60_000);

  it('fail no request and lose no event', async () => {
    const { plane, ours, api } = cluster;
    const following = new AbortController();
    const { ready, done } = ours.followReadiness(following.signal);
    const direct = new Map(ours.instances.map((each) => [each, plane.admin(each.url)]));
    const behindSlice = () => direct.get(ready()[0] ?? ours.first) ?? api;
    const load = await startLoad('rollout', [() => api, behindSlice]);
    await load.more(50);
    for (const instance of ours.instances) {
      expect(await instance.stop()).toBe(0);
      await load.more(50);
      await instance.start();
      await load.more(50);
    }
    await load.finish();
    expect(load.outcome.failures).toEqual([]);
    expect(load.outcome.reads).toBeGreaterThan(0);
    following.abort();
    await done;
    const { items } = await api.must('GET', arcPath('artifactworkflows', 'rollout'));
    expect(items?.length).toBeGreaterThan(0);
  }, 400_000);
});
