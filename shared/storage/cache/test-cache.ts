import { expect } from 'vitest';
import { eventually } from '../../../test/fixtures/eventually.ts';
import type { FakeEtcd } from '../etcd/fake-etcd.ts';
import { makeStore } from '../etcd/open-etcd.ts';
import type { Store } from '../store.ts';
import { type CacheOptions, cacheStore } from './cached-store.ts';

/** A cache over an etcd in memory, once it is loaded. */
export async function openCached(etcd: FakeEtcd, options: Partial<CacheOptions> = {}): Promise<Store> {
  const inner = makeStore(etcd, { progressInterval: 20 });
  const store = cacheStore(inner, { prefix: '/', progressInterval: 20, ...options });
  await eventually('the cache to be loaded', 10_000, () => expect(store.synced).toBe(true));
  return store;
}
