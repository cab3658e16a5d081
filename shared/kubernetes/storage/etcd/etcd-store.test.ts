import { describe, expect, it } from 'vitest';
import { describeStore, type StoreUnderTest } from '../../../../test/contract/store.ts';
import { makeStore } from './open-etcd.ts';
import { FakeEtcd } from './testing/fake-etcd.ts';

/** The fake refuses what kine would not understand, so this also proves which requests the store makes. */
describeStore('the etcd store over requests that kine understands', open);

const bytes = (text: string) => Buffer.from(text);

describe('the etcd store', () => {
  it('keeps its keys below its root, and gives them back without it', async () => {
    const etcd = new FakeEtcd();
    const store = makeStore(etcd, { prefix: '/registry/arc' });
    const result = await store.create('/orders/a', bytes('1'));
    etcd.putTogether({ '/registry/other': 'x' });
    expect(etcd.calls).toMatchObject([{ request: { compare: [{ key: bytes('/registry/arc/orders/a') }] } }]);
    const list = await store.list('');
    expect(list.items).toEqual([{ key: '/orders/a', value: new Uint8Array(bytes('1')), revision: 2 }]);
    expect(result).toEqual({ ok: true, revision: 2 });
    await store.close();
  });

  it('reads long lists in pages of 500 at one revision despite concurrent writes', async () => {
    const etcd = new FakeEtcd();
    const store = makeStore(etcd, {});
    for (let at = 0; at < 1201; at += 1) etcd.putTogether({ [`/a/${String(at).padStart(5, '0')}`]: `${at}` });
    etcd.intercept = (_, run) => {
      const answer = run();
      etcd.putTogether({ '/a/99999': 'late' });
      return answer;
    };
    const list = await store.list('/a/');
    expect(list).toMatchObject({ revision: 1202, remaining: 0 });
    expect(list.items).toHaveLength(1201);
    const limits = etcd.calls.map(({ request }) => ({ ...request }));
    expect(limits).toMatchObject([
      { limit: 500, revision: 0 },
      { limit: 500, revision: 1202 },
      { limit: 500, revision: 1202 },
    ]);
    const page = await store.list('/a/', { limit: 700 });
    expect(page.items).toHaveLength(700);
    expect(page.remaining).toBe(502);
    await store.close();
  });

  it('starts a list of the newest state again when it is compacted between two pages', async () => {
    const etcd = new FakeEtcd();
    const store = makeStore(etcd, {});
    for (let at = 0; at < 600; at += 1) etcd.putTogether({ [`/a/${at}`]: 'x' });
    let pages = 0;
    etcd.intercept = async (_, run) => {
      const answer = run();
      pages += 1;
      if (pages === 1) {
        const revision = etcd.putTogether({ '/a/late': 'x' });
        etcd.intercept = (_request, go) => go();
        await etcd.compact({ revision });
      }
      return answer;
    };
    const list = await store.list('/a/');
    expect(list.items).toHaveLength(601);
    await store.close();
  });

  it('repeats reads that fail in passing, and no others', async () => {
    const etcd = new FakeEtcd();
    const store = makeStore(etcd, {});
    let failures = 2;
    etcd.intercept = (_, run) => {
      failures -= 1;
      if (failures >= 0) throw new Error('14 UNAVAILABLE: etcdserver: leader changed');
      return run();
    };
    expect(await store.get('/a')).toEqual({ item: undefined, revision: 1 });
    expect(etcd.calls).toHaveLength(3);
    etcd.intercept = () => {
      throw new Error('7 PERMISSION_DENIED: etcdserver: permission denied');
    };
    await expect(store.get('/a')).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    expect(etcd.calls).toHaveLength(4);
    await store.close();
  });

  it('gives up a read when its time is over, its caller leaves, or the store is closed', async () => {
    const etcd = new FakeEtcd();
    const store = makeStore(etcd, { requestTimeout: 200 });
    etcd.intercept = () => {
      throw new Error('14 UNAVAILABLE: No connection established');
    };
    await expect(store.get('/a')).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    etcd.intercept = () => new Promise(() => undefined);
    const stop = new AbortController();
    const given = expect(store.get('/a', { signal: stop.signal })).rejects.toMatchObject({ code: 'Timeout' });
    stop.abort();
    await given;
    await store.close();
    await expect(store.revision()).rejects.toMatchObject({ code: 'ServiceUnavailable' });
  });

  it('tries a write again that found no connection, because it was never sent', async () => {
    const etcd = new FakeEtcd();
    const store = makeStore(etcd, { requestTimeout: 2000 });
    let failures = 3;
    etcd.intercept = (_, run) => {
      failures -= 1;
      if (failures >= 0) throw new Error('14 UNAVAILABLE: No connection established. Last error: null');
      return run();
    };
    expect(await store.create('/a', bytes('1'))).toEqual({ ok: true, revision: 2 });
    failures = 1000;
    await expect(store.update('/a', bytes('2'), 2)).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    expect(etcd.calls.every(({ method }) => method === 'txn')).toBe(true);
    await store.close();
  });

  it('never sends a write twice, and reports that etcd refused it', async () => {
    const etcd = new FakeEtcd();
    const store = makeStore(etcd, {});
    etcd.intercept = () => {
      throw new Error('3 INVALID_ARGUMENT: etcdserver: request is too large');
    };
    await expect(store.create('/a', bytes('x'))).rejects.toMatchObject({ code: 'RequestEntityTooLarge' });
    etcd.intercept = () => {
      throw new Error('8 RESOURCE_EXHAUSTED: etcdserver: mvcc: database space exceeded');
    };
    await expect(store.create('/a', bytes('x'))).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    expect(etcd.calls.map(({ method }) => method)).toEqual(['txn', 'txn']);
    await store.close();
  });
});

async function open(): Promise<StoreUnderTest> {
  const etcd = new FakeEtcd();
  const options = { progressInterval: 20 };
  let store = makeStore(etcd, options);
  return {
    store,
    async reopen() {
      await store.close();
      store = makeStore(etcd, options);
      return store;
    },
    dispose: () => store.close(),
  };
}
