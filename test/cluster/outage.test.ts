import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../shared/base/testing/eventually.ts';
import {
  arcPath,
  type Cluster,
  corePath,
  describeCluster,
  startCluster,
} from '../fixtures/cluster/cluster.ts';
import { newConfigMap, newNamespace, newOrder } from '../fixtures/cluster/cluster-objects.ts';
import { startLoad } from '../fixtures/cluster/load.ts';

const patience = 90_000;
const apiService = '/apis/apiregistration.k8s.io/v1/apiservices/v1alpha1.arc.opendefense.cloud';

describeCluster('an API server that is down for a while', (machine) => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await startCluster(machine, { store: 'embedded' });
    cluster.plane.startControllers();
    for (const name of ['outage', 'ending'])
      await cluster.api.must('POST', corePath('namespaces'), newNamespace(name));
  }, 180_000);
  afterAll(() => cluster?.stop(), 60_000);

  const available = async () => {
    const { status } = await cluster.api.must('GET', apiService);
    const { conditions } = status as { conditions: { type: string; status: string; reason: string }[] };
    return conditions.find(({ type }) => type === 'Available');
  };

  it('is said to be unavailable, answered for by 503, and back with every write and watch', async () => {
    const { api, ours } = cluster;
    const load = await startLoad('outage', [() => api]);
    await load.more(50);
    expect(await ours.first.stop()).toBe(0);
    await eventually('the APIService to be unavailable', patience, async () =>
      expect(await available()).toMatchObject({ status: 'False', reason: 'FailedDiscoveryCheck' }),
    );
    const refused = await api.send('GET', arcPath('orders', 'outage'));
    expect([refused.code, refused.text.trim()]).toEqual([503, 'service unavailable']);

    // Others live on meanwhile; only namespaces cannot be deleted, since nobody can say what is in them.
    await api.must('POST', corePath('configmaps', 'ending'), newConfigMap({ name: 'meanwhile' }));
    await api.must('DELETE', corePath('namespaces', undefined, 'ending'));
    await eventually('the namespace to say why it stays', patience, async () => {
      const { status } = await api.must('GET', corePath('namespaces', undefined, 'ending'));
      expect(status).toMatchObject({
        conditions: expect.arrayContaining([
          expect.objectContaining({ type: 'NamespaceDeletionDiscoveryFailure', status: 'True' }),
        ]),
      });
    });

    await ours.first.start();
    await ours.available();
    await load.more(50);
    await load.finish();
    for (const failure of load.outcome.failures) expect(failure).toMatch(/: 50[03] |watch: .*50[03]/);
    expect(load.outcome.failures.length).toBeGreaterThan(0);
    await eventually('the namespace to be gone', patience, async () =>
      expect((await api.send('GET', corePath('namespaces', undefined, 'ending'))).code).toBe(404),
    );
    await api.must('POST', arcPath('orders', 'outage'), newOrder({ name: 'after' }));
  }, 400_000);
});
