import { describe, expect, it } from 'vitest';
import { createMetrics } from '#shared/base/telemetry';
import { describeStore, type StoreUnderTest } from '../../../../test/contract/store.ts';
import { eventsAfter, line, patience } from '../../../../test/contract/store-support.ts';
import { makeStore } from '../etcd/open-etcd.ts';
import { FakeEtcd } from '../etcd/testing/fake-etcd.ts';
import { cacheStore } from './cached-store.ts';
import { openCached } from './testing/cached-etcd.ts';

describeStore('the cached store over etcd', open);

describe('the cached store', () => {
  it('reads lists from memory, as fresh as etcd has them, also when only others have written', async () => {
    const etcd = new FakeEtcd();
    const store = await openCached(etcd, { prefix: '/ours/' });
    await etcd.putTogether({ '/ours/a': '1' });
    const revision = etcd.putTogether({ '/theirs/b': '2' });
    etcd.calls.length = 0;
    expect(await store.list('/ours/')).toMatchObject({ items: [{ key: '/ours/a' }], revision });
    expect(ranges(etcd)).toEqual(['compact_rev_key']);
    expect(await store.list('/theirs/')).toMatchObject({ items: [{ key: '/theirs/b' }] });
    await store.close();
  });

  it('serves reads of any state from memory without a request', async () => {
    const etcd = new FakeEtcd();
    const revision = etcd.putTogether({ '/a': '1' });
    const store = await openCached(etcd);
    etcd.calls.length = 0;
    expect((await store.list('/', { atLeast: 0 })).items).toHaveLength(1);
    expect((await store.get('/a', { atLeast: revision })).item?.revision).toBe(revision);
    expect(etcd.calls).toEqual([]);
    await store.close();
  });

  it('coalesces concurrent reads of single keys, and never returns a stale state', async () => {
    const etcd = new FakeEtcd();
    etcd.putTogether({ '/a': '1', '/b': '1', '/c': '1' });
    const store = await openCached(etcd);
    etcd.calls.length = 0;
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    etcd.intercept = async (_request, run) => {
      const answer = await run();
      await held;
      return answer;
    };
    const first = store.get('/a');
    // What is read first was answered before this write: whoever asks after it must not share that answer.
    const revision = etcd.putTogether({ '/b': '2' });
    const others = ['/b', '/c', '/b'].map((key) => store.get(key));
    release();
    const found = await Promise.all(others);
    expect((await first).item?.revision).toBe(2);
    expect(found.map(({ item }) => item?.revision)).toEqual([revision, 2, revision]);
    expect(ranges(etcd)).toEqual(['/a', 'compact_rev_key']);
    await store.close();
  });

  it('has etcd answer where memory does not get fresh in time, or does not reach back', async () => {
    const etcd = new FakeEtcd();
    const first = etcd.putTogether({ '/a': '1' });
    etcd.putTogether({ '/b': '1' });
    const metrics = createMetrics();
    const store = await openCached(etcd, { metrics });
    etcd.muted = true;
    const revision = etcd.putTogether({ '/a': '2' });
    expect(await store.list('/')).toMatchObject({ items: [{ revision }, {}], revision });
    expect((await store.list('/', { revision: first })).items).toHaveLength(1);
    expect(metrics.expose()).toContain(
      'apiserver_watch_cache_consistent_read_total{success="false",fallback="true"} 1',
    );
    await store.close();
  });

  it('reloads after it missed events, ends its watches with Expired, and keeps the items that are the same', async () => {
    const etcd = new FakeEtcd();
    etcd.putTogether({ '/a': '1', '/b': '1' });
    const reasons: string[] = [];
    const store = await openCached(etcd, { onReload: (error) => reasons.push(error.code) });
    const before = await store.list('/');
    const watch = store.watch('/', { after: before.revision, signal: patience() })[Symbol.asyncIterator]();
    const ended = expect(watch.next()).rejects.toMatchObject({ code: 'Expired' });
    etcd.dropConnections();
    etcd.putTogether({ '/b': '2' });
    const revision = etcd.putTogether({ '/c': '1' });
    await etcd.compact({ revision });
    await ended;
    expect(reasons).toEqual(['Expired']);
    const after = await store.list('/');
    expect(after.items.map(({ key, revision }) => [key, revision])).toEqual([
      ['/a', 2],
      ['/b', 3],
      ['/c', 4],
    ]);
    expect(after.items[0]).toBe(before.items[0]);
    await store.close();
  });

  it('serves from etcd until everything is in memory', async () => {
    const etcd = new FakeEtcd();
    etcd.putTogether({ '/a': '1' });
    const { promise: loading, resolve: load } = Promise.withResolvers<void>();
    etcd.intercept = async (request, run) => {
      if (!('limit' in request)) return run();
      await loading;
      return run();
    };
    const store = cacheStore(makeStore(etcd, {}), { prefix: '/' });
    expect(store.synced).toBe(false);
    expect((await store.get('/a', { atLeast: 0 })).item?.revision).toBe(2);
    const events = eventsAfter(store, '/', 1, 2);
    load();
    expect((await store.list('/')).items).toHaveLength(1);
    etcd.putTogether({ '/b': '1' });
    expect((await events).map(line)).toEqual(['put /a@2 1', 'put /b@3 1']);
    await store.close();
  });
});

function ranges(etcd: FakeEtcd): string[] {
  return etcd.calls.map(({ request }) => ('key' in request ? String(request.key) : ''));
}

async function open(): Promise<StoreUnderTest> {
  const etcd = new FakeEtcd();
  let store = await openCached(etcd);
  return {
    store,
    async reopen() {
      await store.close();
      store = await openCached(etcd);
      return store;
    },
    dispose: () => store.close(),
  };
}
