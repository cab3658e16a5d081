import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { group, parseSettings } from '#shared/domain';
import { storagePrefix } from '#shared/kubernetes/apiserver';
import { cacheStore, openEtcdStore, type Store } from '#shared/kubernetes/storage';
import { createArcApiServer } from '../../functions/api-server/index.ts';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { type EtcdProcess, startEtcd } from '../fixtures/etcd/process.ts';

const assets = process.env.KUBEBUILDER_ASSETS;
const collection = `/apis/${group}/v1alpha1/namespaces/team/orders`;
const settings = parseSettings({ 'limits.ordersPerNamespace': '100' }).settings;
const lanes = 5;

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

interface Replica {
  store: Store;
  create(name: string): Promise<{ status: number; message?: string }>;
  close(): Promise<void>;
}

/** The limits of a namespace with real etcd, and api-servers that know of each other by it alone. */
describe.skipIf(!assets)('the limits of a namespace in etcd', () => {
  let etcd: EtcdProcess;
  let replicas: Replica[] = [];

  async function start(): Promise<Replica> {
    const plain = await openEtcdStore({ endpoints: [etcd.endpoint] });
    const store = cacheStore(plain, { prefix: storagePrefix(group), onReload: () => undefined });
    const api = createArcApiServer({
      store,
      settings: () => settings,
      authenticate: async () => ({ name: 'jo', groups: [] }),
      authorize: async () => ({ allowed: true }),
      findNamespace: async () => ({ metadata: {} }),
    });
    const replica: Replica = {
      store,
      async create(name) {
        const sides = { srcRef: { name: 'a' }, dstRef: { name: 'b' } };
        const order = { apiVersion: `${group}/v1alpha1`, kind: 'Order', metadata: { name } };
        const response = await api.app.fetch(
          new Request(`http://test.invalid${collection}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ ...order, spec: { defaults: sides } }),
          }),
        );
        return { ...((await response.json()) as { message?: string }), status: response.status };
      },
      async close() {
        await api.close();
        await store.close();
      },
    };
    replicas.push(replica);
    return replica;
  }
  const stored = async (replica: Replica) =>
    (await replica.store.list(`${storagePrefix(group)}orders/team/`)).items.length;
  const fill = async (replica: Replica, name: string, count: number) => {
    const statuses: number[] = [];
    const lane = async (index: number) => {
      for (let turn = 0; turn < count; turn += 1)
        statuses.push((await replica.create(`${name}-${index}-${turn}`)).status);
    };
    await Promise.all(Array.from({ length: lanes }, (_, index) => lane(index)));
    return statuses;
  };

  beforeEach(async () => {
    etcd = await startEtcd(path.join(assets ?? '', 'etcd'));
  });
  afterEach(async () => {
    for (const replica of replicas) await replica.close();
    replicas = [];
    await etcd.stop();
  });

  it('are exact for one server, and are found reached by the next', async () => {
    const first = await start();
    const statuses = await fill(first, 'one', 40);
    expect(statuses.filter((status) => status === 201)).toHaveLength(100);
    expect(new Set(statuses)).toEqual(new Set([201, 403]));
    expect(await stored(first)).toBe(100);
    expect(await (await start()).create('next')).toMatchObject({
      status: 403,
      message: expect.stringContaining('used: count/orders.arc.opendefense.cloud=100,'),
    });
  });

  it('are exceeded by two servers by no more than what one of them has in flight', async () => {
    const [one, two] = [await start(), await start()];
    await Promise.all([fill(one, 'one', 30), fill(two, 'two', 30)]);
    const count = await stored(one);
    expect(count).toBeGreaterThanOrEqual(100);
    expect(count).toBeLessThanOrEqual(100 + lanes);
    for (const replica of [one, two]) expect((await replica.create('more')).status).toBe(403);
  });

  it('hold while etcd is killed and started again', async () => {
    const replica = await start();
    const filling = fill(replica, 'one', 40);
    await eventually('some Orders', 20_000, async () => expect(await stored(replica)).toBeGreaterThan(20));
    await etcd.kill();
    await etcd.restart();
    await filling;
    await eventually('the count to be reached', 60_000, async () =>
      expect((await replica.create(`late-${Date.now()}`)).status).toBe(403),
    );
    const count = await stored(replica);
    // A write whose answer was lost may be counted only when its event comes.
    expect(count).toBeGreaterThanOrEqual(100);
    expect(count).toBeLessThanOrEqual(100 + lanes);
    expect((await replica.create('more')).message).toContain(`used: count/orders.${group}=${count},`);
  });
});
