import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../shared/base/testing/eventually.ts';
import {
  arcPath,
  type Cluster,
  corePath,
  describeCluster,
  startCluster,
} from '../fixtures/cluster/cluster.ts';
import {
  absentOrder,
  type NewMetadata,
  newArtifactWorkflow,
  newClusterArtifactType,
  newConfigMap,
  newNamespace,
  newOrder,
  ownedBy,
} from '../fixtures/cluster/cluster-objects.ts';
import type { Body } from '../fixtures/http/https-client.ts';

const namespace = 'team';
const hold = 'example.com/hold';
const patience = 60_000;

/** How an object is made and reached, of ours and of core. */
const kinds = {
  order: { create: newOrder, path: (name?: string) => arcPath('orders', namespace, name) },
  workflow: {
    create: newArtifactWorkflow,
    path: (name?: string) => arcPath('artifactworkflows', namespace, name),
  },
  configmap: { create: newConfigMap, path: (name?: string) => corePath('configmaps', namespace, name) },
  type: {
    create: newClusterArtifactType,
    path: (name?: string) => arcPath('clusterartifacttypes', undefined, name),
  },
};
type Kind = keyof typeof kinds;

describeCluster("the cluster's garbage collector and our kinds", (machine) => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await startCluster(machine, { store: 'etcd' });
    cluster.plane.startControllers();
    await cluster.api.must('POST', corePath('namespaces'), newNamespace(namespace));
  }, 180_000);
  afterAll(() => cluster?.stop(), 60_000);

  const create = (kind: Kind, metadata: NewMetadata) =>
    cluster.api.must('POST', kinds[kind].path(), kinds[kind].create(metadata));
  const remove = (kind: Kind, name: string, propagationPolicy: string) =>
    cluster.api.must('DELETE', kinds[kind].path(name), { propagationPolicy });
  const release = (kind: Kind, name: string) =>
    cluster.api.must('PATCH', kinds[kind].path(name), { metadata: { finalizers: null } });
  const read = async (kind: Kind, name: string): Promise<Body | undefined> => {
    const reply = await cluster.api.send('GET', kinds[kind].path(name));
    if (reply.code === 404) return undefined;
    expect(reply.code).toBe(200);
    return reply.body();
  };
  const gone = (kind: Kind, name: string) =>
    eventually(`${kind} ${name} to be gone`, patience, async () =>
      expect(await read(kind, name)).toBe(undefined),
    );

  /**
   * Resolves when the collector has heard of everything of these kinds that exists: it hears of a kind's objects in
   * order, and what it collects here was made last. What it has not heard of it can neither orphan nor wait for.
   */
  async function collectorKnows(some: Iterable<Kind>): Promise<void> {
    const name = `last-${randomUUID()}`;
    for (const kind of some) await create(kind, { name, ownerReferences: [absentOrder()] });
    for (const kind of some) await gone(kind, name);
  }

  /** An owner and what it owns: an object of each of these kinds. */
  async function family(name: string, owner: Kind, dependents: readonly Kind[]): Promise<Body> {
    const made = await create(owner, { name });
    const ownerReferences = [ownedBy(made, { blockOwnerDeletion: true })];
    for (const kind of dependents) await create(kind, { name: `${name}-${kind}`, ownerReferences });
    return made;
  }

  const pairs: [Kind, Kind[]][] = [
    ['order', ['workflow', 'configmap']],
    ['configmap', ['order', 'workflow']],
    ['type', ['order', 'configmap']],
  ];

  it.each(pairs)(
    'background: the %s goes at once, then what it owns',
    async (owner, dependents) => {
      const name = `background-${owner}`;
      await family(name, owner, dependents);
      await remove(owner, name, 'Background');
      expect(await read(owner, name)).toBe(undefined);
      for (const kind of dependents) await gone(kind, `${name}-${kind}`);
    },
    patience * 2,
  );

  it.each(pairs)(
    'orphan: the %s goes, what it owned stays and is nobody’s',
    async (owner, dependents) => {
      const name = `orphan-${owner}`;
      await family(name, owner, dependents);
      await collectorKnows(dependents);
      await remove(owner, name, 'Orphan');
      await gone(owner, name);
      for (const kind of dependents) {
        const left = await read(kind, `${name}-${kind}`);
        expect(left?.metadata).not.toHaveProperty('ownerReferences');
        expect(left?.metadata).not.toHaveProperty('deletionTimestamp');
      }
    },
    patience * 2,
  );

  it.each(pairs)(
    'foreground: the %s stays until what blocks it is gone',
    async (owner, dependents) => {
      const name = `foreground-${owner}`;
      await family(name, owner, dependents);
      const made = await read(owner, name);
      if (!made) throw new Error(`${name} is not there`);
      const held = { finalizers: [hold], ownerReferences: [ownedBy(made, { blockOwnerDeletion: true })] };
      await create('workflow', { name: `${name}-held`, ...held });
      await collectorKnows(new Set<Kind>([...dependents, 'workflow']));
      await remove(owner, name, 'Foreground');
      for (const kind of dependents) await gone(kind, `${name}-${kind}`);
      await eventually('the held one to be deleted', patience, async () =>
        expect((await read('workflow', `${name}-held`))?.metadata.deletionTimestamp).toBeDefined(),
      );
      const waiting = await read(owner, name);
      expect(waiting?.metadata).toMatchObject({
        deletionTimestamp: expect.any(String),
        finalizers: ['foregroundDeletion'],
      });
      await release('workflow', `${name}-held`);
      await gone('workflow', `${name}-held`);
      await gone(owner, name);
    },
    patience * 3,
  );

  it(
    'foreground: what does not block its owner does not hold it',
    async () => {
      const made = await create('order', { name: 'unblocked' });
      await create('workflow', { name: 'unblocked', finalizers: [hold], ownerReferences: [ownedBy(made)] });
      await collectorKnows(['workflow']);
      await remove('order', 'unblocked', 'Foreground');
      await gone('order', 'unblocked');
      await eventually('its dependent to be deleted', patience, async () =>
        expect((await read('workflow', 'unblocked'))?.metadata.deletionTimestamp).toBeDefined(),
      );
      await release('workflow', 'unblocked');
      await gone('workflow', 'unblocked');
    },
    patience * 3,
  );

  it(
    'a finalizer of another holds an owner in the foreground, and nothing longer than it must',
    async () => {
      const made = await create('order', { name: 'finalized', finalizers: [hold] });
      await create('configmap', { name: 'finalized', ownerReferences: [ownedBy(made)] });
      await collectorKnows(['configmap']);
      await remove('order', 'finalized', 'Foreground');
      await gone('configmap', 'finalized');
      await eventually("the collector's finalizer to be gone", patience, async () =>
        expect((await read('order', 'finalized'))?.metadata.finalizers).toEqual([hold]),
      );
      await release('order', 'finalized');
      await gone('order', 'finalized');
    },
    patience * 2,
  );

  it(
    'what has one living owner stays, and forgets the one that is gone',
    async () => {
      const [one, two] = [await create('order', { name: 'one' }), await create('configmap', { name: 'two' })];
      await create('workflow', { name: 'shared', ownerReferences: [ownedBy(one), ownedBy(two)] });
      await remove('order', 'one', 'Background');
      await eventually('the reference to be removed', patience, async () =>
        expect((await read('workflow', 'shared'))?.metadata.ownerReferences).toEqual([
          expect.objectContaining({ uid: two.metadata.uid }),
        ]),
      );
      await remove('configmap', 'two', 'Background');
      await gone('workflow', 'shared');
    },
    patience * 2,
  );

  it(
    'collects what names an owner that has never been, or another object of its name',
    async () => {
      const living = await create('order', { name: 'living' });
      await create('configmap', { name: 'stray', ownerReferences: [absentOrder()] });
      await create('workflow', { name: 'stray', ownerReferences: [absentOrder()] });
      await create('workflow', { name: 'mistaken', ownerReferences: [{ ...absentOrder(), name: 'living' }] });
      await create('workflow', { name: 'kept', ownerReferences: [ownedBy(living)] });
      await gone('configmap', 'stray');
      await gone('workflow', 'stray');
      await gone('workflow', 'mistaken');
      expect((await read('workflow', 'kept'))?.metadata).not.toHaveProperty('deletionTimestamp');
    },
    patience * 3,
  );
});
