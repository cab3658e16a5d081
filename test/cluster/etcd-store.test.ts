import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, expect, it, vi } from 'vitest';
import { largestObjectBytes } from '#shared/base/meta';
import { cacheStore, openEtcdStore, type Store } from '#shared/kubernetes/storage';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { describeStore, type StoreUnderTest } from '../contract/store.ts';
import { bytes, written } from '../contract/store-support.ts';
import { startEtcdCluster } from '../fixtures/etcd/cluster.ts';
import { type EtcdProcess, startEtcd } from '../fixtures/etcd/process.ts';
import { compare, startLanes, type WriteOutcomes, writeLane } from './etcd-writers.ts';

const assets = process.env.KUBEBUILDER_ASSETS;
if (process.env.CI && !assets)
  throw new Error('set KUBEBUILDER_ASSETS to a folder that holds etcd 3.5.13 or newer');
if (!assets)
  console.log('skipped: the tests of the etcd store need KUBEBUILDER_ASSETS, a folder that holds etcd');
const binary = path.join(assets ?? '', 'etcd');

vi.setConfig({ testTimeout: 240_000 });

describe.skipIf(!assets)('with a real etcd', () => {
  describeStore('the etcd store', () => open(openPlain));
  describeStore('the etcd store behind its cache', () => open(openCached));

  it.each([
    ['the store', openPlain],
    ['its cache', openCached],
  ])(
    '%s loses and repeats nothing when etcd is killed and started again while it is written and watched',
    (_, openAt) =>
      withEtcd([], openAt, async (etcd, store) => {
        const lanes = await startLanes(store, 8);
        const watching = lanes.follow('/lane/');
        const one = lanes.follow('/lane/3');
        const quiet = lanes.follow('/quiet/');
        for (let kills = 1; kills <= 4; kills += 1) {
          await lanes.more(300);
          await etcd.kill();
          await etcd.restart();
        }
        await lanes.more(100);
        const items = await lanes.finish();
        const { outcomes } = lanes;
        compare(outcomes, await watching, items);
        expect((await one).every(({ key }) => key === '/lane/3')).toBe(true);
        expect(await quiet).toEqual([]);
        console.log(
          `4 kills: ${outcomes.acknowledged.size} writes acknowledged, ${outcomes.unknown.size} unknown`,
        );
      }),
  );

  it('goes on with two of three members, and refuses to answer with one', async () => {
    const cluster = await startEtcdCluster(binary);
    try {
      const { endpoints } = cluster;
      const store = await openEtcdStore({ endpoints, progressInterval: 200 });
      const lanes = await startLanes(store, 4);
      const { outcomes } = lanes;
      // As many watches as make it sure that one is at the member that dies.
      const watching = Array.from({ length: 12 }, () => lanes.follow('/lane/'));
      await lanes.more(200);
      await cluster.kill(2);
      await lanes.more(200);
      const items = await lanes.finish();
      for (const events of await Promise.all(watching)) compare(outcomes, events, items);
      console.log(
        `a member died: ${outcomes.acknowledged.size} writes acknowledged, ${outcomes.unknown.size} unknown`,
      );
      await cluster.kill(1);
      const signal = AbortSignal.timeout(3000);
      await expect(store.get('/lane/end', { signal })).rejects.toMatchObject({ code: 'Timeout' });
      await store.close();
    } finally {
      await cluster.stop();
    }
  });

  it('goes on watching while history is compacted behind it', () =>
    withEtcd([], openPlain, async (_, store) => {
      const after = await store.revision();
      const lanes = await startLanes(store, 8);
      const under: Record<string, number> = {};
      const follow = (prefix: string) =>
        lanes.follow(prefix, (revision) => {
          under[prefix] = revision;
        });
      const watching = follow('/lane/');
      const quiet = follow('/quiet/');
      // A watch that has not caught up yet may find what it begins with compacted, and rightly so.
      await eventually('both watches to be under way', 20_000, () => {
        expect(Object.keys(under)).toHaveLength(2);
      });
      for (let round = 1; round <= 10; round += 1) {
        await lanes.more(200);
        await store.compact((await store.revision()) - 50);
      }
      const items = await lanes.finish();
      await expect(store.list('/', { revision: after })).rejects.toMatchObject({ code: 'Expired' });
      compare(lanes.outcomes, await watching, items);
      expect(await quiet).toEqual([]);
    }));

  it('answers Expired to a slow consumer whose next revision has been compacted', () =>
    withEtcd([], openPlain, async (_, store) => {
      const after = await store.revision();
      const slow = store
        .watch('/w/', { after, signal: AbortSignal.timeout(120_000) })
        [Symbol.asyncIterator]();
      const value = new Uint8Array(20_000);
      await written(store.create('/w/first', value));
      expect((await slow.next()).value).toMatchObject({ events: [{ key: '/w/first' }] });
      for (let at = 0; at < 4000; at += 50) await createMany(store, '/w/', at, 50, value);
      await store.compact(await store.revision());
      let position = after + 1;
      const rest = (async () => {
        for (;;) {
          const { value: batch, done } = await slow.next();
          if (done) return;
          for (const { revision } of batch.events) {
            expect(revision).toBe(position + 1);
            position = revision;
          }
        }
      })();
      await expect(rest).rejects.toMatchObject({ code: 'Expired' });
    }));

  it('lists 100,000 objects as they were at one revision, while others write', () =>
    withEtcd(['--quota-backend-bytes', '2000000000'], openPlain, async (_, store) => {
      const value = new Uint8Array(300).fill(120);
      for (let at = 0; at < 100_000; at += 500) await createMany(store, '/many/', at, 500, value);
      const stop = new AbortController();
      const outcomes: WriteOutcomes = { acknowledged: new Map(), unknown: new Set() };
      const lane = writeLane(store, '/many/zz', outcomes, stop.signal);
      const delay = monitorEventLoopDelay({ resolution: 5 });
      delay.enable();
      const start = performance.now();
      const list = await store.list('/many/');
      const ms = performance.now() - start;
      delay.disable();
      stop.abort();
      await lane;
      const many = list.items.filter(({ key }) => key !== '/many/zz');
      expect(many).toHaveLength(100_000);
      expect(list.remaining).toBe(0);
      expect(list.items.every(({ revision }) => revision <= list.revision)).toBe(true);
      const again = await store.list('/many/', { revision: list.revision, limit: 10 });
      expect(again.remaining).toBe(list.items.length - 10);
      console.log(
        `100,000 objects in ${ms.toFixed(0)} ms; event loop late by ${(delay.percentile(99) / 1e6).toFixed(0)} ms (p99)`,
      );
    }));

  it('compacts by turns with others, and keeps revisions younger than an interval', () =>
    withEtcd([], openPlain, async (etcd, store) => {
      const stores = await Promise.all(
        [1, 2, 3].map(() => openEtcdStore({ endpoints: [etcd.endpoint], compactionInterval: 500 })),
      );
      try {
        const old = await written(store.create('/a', bytes('1')));
        await written(store.create('/b', bytes('1')));
        await eventually('the old revision to be compacted', 20_000, async () =>
          expect(store.list('/', { revision: old })).rejects.toMatchObject({ code: 'Expired' }),
        );
        const { revision } = await store.list('/');
        expect((await store.list('/', { revision })).items).toHaveLength(2);
      } finally {
        await Promise.all(stores.map((one) => one.close()));
      }
    }));

  it('reads on when etcd is full, and says what to do', () =>
    withEtcd(['--quota-backend-bytes', '20000000'], openPlain, async (_, store) => {
      const value = new Uint8Array(500_000);
      const refused = (async () => {
        for (let at = 0; at < 1000; at += 1) await written(store.create(`/full/${at}`, value));
      })();
      await expect(refused).rejects.toMatchObject({
        code: 'ServiceUnavailable',
        message: expect.stringContaining('defragment'),
      });
      expect((await store.get('/full/0')).item?.value).toHaveLength(500_000);
    }));

  it('refuses an object that is too large, and takes no harm', () =>
    withEtcd([], openPlain, async (_, store) => {
      for (const size of [2_000_000, 20_000_000])
        await expect(store.create('/large', new Uint8Array(size))).rejects.toMatchObject({
          code: 'RequestEntityTooLarge',
        });
      // Eight of the largest there may be, under the longest keys, are more than gRPC takes in one message by default.
      const value = new Uint8Array(largestObjectBytes);
      const longest = '/fits/'.padEnd(1_023, 'x');
      for (let at = 0; at < 8; at += 1) await written(store.create(`${longest}${at}`, value));
      expect((await store.list('/fits/')).items).toHaveLength(8);
    }));

  it('does not open when no server answers', async () => {
    const etcd = await startEtcd(binary);
    await etcd.stop();
    const opening = openEtcdStore({ endpoints: [etcd.endpoint], requestTimeout: 1000 });
    // Timeout: a busy machine did not even refuse the connection in time.
    await expect(opening).rejects.toMatchObject({
      code: expect.stringMatching(/^(ServiceUnavailable|Timeout)$/),
    });
    const signal = AbortSignal.timeout(100);
    await expect(openEtcdStore({ endpoints: [etcd.endpoint], signal })).rejects.toMatchObject({
      code: 'Timeout',
    });
  });
});

/** Every store has an etcd of its own: the contract wants it empty, and compactions are for the whole of one. */
async function open(openAt: (endpoint: string) => Promise<Store>): Promise<StoreUnderTest> {
  const etcd = await startEtcd(binary);
  let store = await openAt(etcd.endpoint);
  return {
    store,
    async reopen() {
      await store.close();
      store = await openAt(etcd.endpoint);
      return store;
    },
    async dispose() {
      await store.close();
      await etcd.stop();
    },
  };
}

function openPlain(endpoint: string): Promise<Store> {
  return openEtcdStore({ endpoints: [endpoint], progressInterval: 50 });
}

async function openCached(endpoint: string): Promise<Store> {
  const store = cacheStore(await openPlain(endpoint), { prefix: '/', progressInterval: 50 });
  await eventually('the cache to be loaded', 10_000, () => expect(store.synced).toBe(true));
  return store;
}

async function withEtcd(
  extraArguments: string[],
  openAt: (endpoint: string) => Promise<Store>,
  use: (etcd: EtcdProcess, store: Store) => Promise<void>,
): Promise<void> {
  const etcd = await startEtcd(binary, extraArguments);
  try {
    const store = await openAt(etcd.endpoint);
    try {
      await use(etcd, store);
    } finally {
      await store.close();
    }
  } finally {
    await etcd.stop();
  }
}

async function createMany(store: Store, prefix: string, from: number, count: number, value: Uint8Array) {
  const keys = Array.from({ length: count }, (_, at) => prefix + String(from + at).padStart(6, '0'));
  await Promise.all(keys.map((key) => written(store.create(key, value))));
}
