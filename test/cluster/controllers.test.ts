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
import type { Body } from '../fixtures/http/https-client.ts';
import type { Program } from '../fixtures/program.ts';

const hold = 'example.com/hold';
const patience = 90_000;

describeCluster("the cluster's controllers and our kinds", (machine) => {
  let cluster: Cluster;
  let controllers: Program;

  beforeAll(async () => {
    cluster = await startCluster(machine, { store: 'embedded' });
    controllers = cluster.plane.startControllers();
  }, 180_000);
  afterAll(() => cluster?.stop(), 60_000);

  const namespaces = (name?: string) => corePath('namespaces', undefined, name);
  const orders = (namespace: string, name?: string) => arcPath('orders', namespace, name);

  it(
    'a deleted namespace takes our objects with it, and says what it waits for',
    async () => {
      const { api } = cluster;
      await api.must('POST', namespaces(), newNamespace('ending'));
      await api.must('POST', corePath('configmaps', 'ending'), newConfigMap({ name: 'plain' }));
      for (const name of ['one', 'two']) await api.must('POST', orders('ending'), newOrder({ name }));
      await api.must('POST', orders('ending'), newOrder({ name: 'held', finalizers: [hold] }));
      await api.must('DELETE', namespaces('ending'));

      await eventually('the namespace to say what it waits for', patience, async () => {
        const { status } = await api.must('GET', namespaces('ending'));
        const { phase, conditions = [] } = status as { phase: string; conditions?: Condition[] };
        expect(phase).toBe('Terminating');
        const seen = conditions.map(({ type, status, reason, message }) => [type, status, reason, message]);
        expect(Object.fromEntries(seen.map(([type, ...rest]) => [type, rest]))).toEqual({
          NamespaceDeletionDiscoveryFailure: ['False', 'ResourcesDiscovered', expect.any(String)],
          NamespaceDeletionGroupVersionParsingFailure: ['False', 'ParsedGroupVersions', expect.any(String)],
          NamespaceDeletionContentFailure: ['False', 'ContentDeleted', expect.any(String)],
          NamespaceContentRemaining: [
            'True',
            'SomeResourcesRemain',
            'Some resources are remaining: orders.arc.opendefense.cloud has 1 resource instances',
          ],
          NamespaceFinalizersRemaining: [
            'True',
            'SomeFinalizersRemain',
            `Some content in the namespace has finalizers remaining: ${hold} in 1 resource instances`,
          ],
        });
      });
      const { items = [] } = await api.must('GET', orders('ending'));
      expect(items.map(({ metadata }) => metadata.name)).toEqual(['held']);

      const refused = await api.send('POST', orders('ending'), newOrder({ name: 'late' }));
      expect(refused.code).toBe(403);
      expect(refused.body()).toMatchObject({
        reason: 'Forbidden',
        message:
          'orders.arc.opendefense.cloud "late" is forbidden: unable to create new content in namespace ending because it is being terminated',
        details: {
          name: 'late',
          group: 'arc.opendefense.cloud',
          kind: 'orders',
          causes: [
            {
              reason: 'NamespaceTerminating',
              message: 'namespace ending is being terminated',
              field: 'metadata.namespace',
            },
          ],
        },
      });

      await api.must('PATCH', orders('ending', 'held'), { metadata: { finalizers: null } });
      await eventually('the namespace to be gone', patience, async () =>
        expect((await api.send('GET', namespaces('ending'))).code).toBe(404),
      );
      const absent = await api.send('POST', orders('ending'), newOrder({ name: 'later' }));
      expect(absent.code).toBe(404);
      expect(absent.body().message).toBe('namespaces "ending" not found');
    },
    patience * 2,
  );

  it(
    'a namespace made again under its name is empty, and takes objects at once',
    async () => {
      const { api } = cluster;
      await api.must('POST', namespaces(), newNamespace('again'));
      const { metadata } = await api.must('POST', orders('again'), newOrder({ name: 'same' }));
      await api.must('DELETE', namespaces('again'));
      await eventually('the namespace to be gone', patience, async () =>
        expect((await api.send('GET', namespaces('again'))).code).toBe(404),
      );
      await api.must('POST', namespaces(), newNamespace('again'));
      expect((await api.must('GET', orders('again'))).items).toEqual([]);
      const made = await api.must('POST', orders('again'), newOrder({ name: 'same' }));
      expect(made.metadata.uid).not.toBe(metadata.uid);
    },
    patience * 2,
  );

  it(
    'nothing is left of a namespace that was written to while it was deleted',
    async () => {
      const { api } = cluster;
      await api.must('POST', namespaces(), newNamespace('raced'));
      const codes = new Map<number, number>();
      const lanes = Array.from({ length: 6 }, async (_, lane) => {
        for (let at = 0; ; at += 1) {
          const { code } = await api.send('POST', orders('raced'), newOrder({ name: `raced-${lane}-${at}` }));
          codes.set(code, (codes.get(code) ?? 0) + 1);
          if (code === 404) return;
        }
      });
      await eventually('the first objects', patience, () => expect(codes.get(201)).toBeGreaterThan(50));
      await api.must('DELETE', namespaces('raced'));
      await Promise.all(lanes);
      expect([...codes.keys()].sort()).toEqual([201, 403, 404]);
      expect((await api.send('GET', namespaces('raced'))).code).toBe(404);
      expect((await api.must('GET', orders('raced'))).items).toEqual([]);
    },
    patience * 2,
  );

  it(
    'a quota counts our objects, and we hold them to it',
    async () => {
      const { api } = cluster;
      await api.must('POST', namespaces(), newNamespace('counted'));
      for (const name of ['one', 'two']) await api.must('POST', orders('counted'), newOrder({ name }));
      const key = 'count/orders.arc.opendefense.cloud';
      await api.must('POST', corePath('resourcequotas', 'counted'), {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'orders' },
        spec: { hard: { [key]: '10' } },
      });
      const quota = corePath('resourcequotas', 'counted', 'orders');
      const used = ({ status }: Body) => (status as { used?: Record<string, string> }).used?.[key];
      let limit = 10;
      await eventually('both to be counted', patience, async () => {
        // New objects are charged at admission, which kube-apiserver leaves to us; a new limit makes the controller count.
        limit += 1;
        expect(used(await api.must('PATCH', quota, { spec: { hard: { [key]: `${limit}` } } }))).toBe('2');
      });
      await api.must('DELETE', orders('counted', 'one'));
      await eventually('the deleted one to be counted no more', patience, async () =>
        expect(used(await api.must('GET', quota))).toBe('1'),
      );

      // We hold our kinds to the quota, by our own count: that of the controller is minutes old.
      await api.must('PATCH', quota, { spec: { hard: { [key]: '3' } } });
      const send = (name: string, query = '') =>
        api.send('POST', `${orders('counted')}${query}`, newOrder({ name }));
      const [three, four] = ['three', 'four'].map((name) => send(name));
      expect([(await three)?.code, (await four)?.code]).toEqual([201, 201]);
      await eventually('the lower limit to count', patience, async () =>
        expect((await send('five', '?dryRun=All')).code).toBe(403),
      );
      const refused = await send('five');
      expect(refused.code).toBe(403);
      expect(refused.body().message).toBe(
        `orders.arc.opendefense.cloud "five" is forbidden: exceeded quota: orders, requested: ${key}=1, used: ${key}=3, limited: ${key}=3`,
      );
      await api.must('DELETE', orders('counted', 'two'));
      expect((await send('five')).code).toBe(201);
      await api.must('DELETE', quota);
      await eventually('the quota to be gone', patience, async () =>
        expect((await send('six', '?dryRun=All')).code).toBe(201),
      );
    },
    patience * 2,
  );

  it(
    'nobody complains of us',
    async () => {
      const { api, plane } = cluster;
      await eventually('our schemas to be merged into those of the cluster', patience, async () =>
        expect((await api.must('GET', '/openapi/v2')).paths).toHaveProperty(
          arcPath('orders').replace(/\/$/, ''),
        ),
      );
      controllers.mustRun();
      const lines = plane.log();
      console.log(lines.filter((l) => /arc\.opendefense|openapi/i.test(l)).join('\n'));
      expect(lines.length).toBeGreaterThan(10);
      const failures =
        /arc\.opendefense\.cloud|unable to (get|retrieve|merge)|duplicated path|failed to (discover|list|watch)|sync failed|couldn't get resource/i;
      expect(lines.filter((line) => /^[EW]\d{4} /.test(line) && failures.test(line))).toEqual([]);
    },
    patience * 2,
  );
});

interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
}
