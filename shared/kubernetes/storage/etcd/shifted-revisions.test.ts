import { describe, expect, it } from 'vitest';
import { describeStore } from '../../../../test/contract/store.ts';
import { makeStore } from './open-etcd.ts';
import { ShiftedStore } from './shifted-revisions.ts';
import { FakeEtcd } from './testing/fake-etcd.ts';

const shift = 1_000_000_000;
const value = Buffer.from('1');

describeStore('the etcd store after a restore', async () => {
  const etcd = new FakeEtcd();
  const open = () =>
    new ShiftedStore(makeStore(etcd, { progressInterval: 20, compactionInterval: 0 }), shift);
  let store = open();
  return {
    store,
    async reopen() {
      await store.close();
      store = open();
      return store;
    },
    dispose: () => store.close(),
  };
});

describe('the etcd store after a restore', () => {
  it('refuses every revision of before, however many writes follow', async () => {
    const store = new ShiftedStore(makeStore(new FakeEtcd(), { compactionInterval: 0 }), shift);
    const result = await store.create('/a', value);
    expect(result).toEqual({ ok: true, revision: shift + 2 });
    const current = { key: '/a', value: new Uint8Array(value), revision: shift + 2 };
    for (const before of [1, 2, shift - 1]) {
      const signal = AbortSignal.timeout(5000);
      const watched = allOf(store.watch('/', { after: before, signal }));
      await expect(watched).rejects.toMatchObject({ code: 'Expired' });
      await expect(store.list('/', { revision: before })).rejects.toMatchObject({ code: 'Expired' });
      expect(await store.update('/a', value, before)).toEqual({ ok: false, current });
      expect(await store.delete('/a', before)).toEqual({ ok: false, current });
    }
    await store.compact(5);
    await store.close();
  });
});

async function allOf<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of source) all.push(each);
  return all;
}
