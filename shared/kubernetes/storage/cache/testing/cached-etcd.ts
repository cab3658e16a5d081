import { expect } from 'vitest';
import { type CacheOptions, cacheStore, type Store } from '#shared/kubernetes/storage';
import { eventually } from '../../../../base/testing/eventually.ts';
import { makeStore } from '../../etcd/open-etcd.ts';
import type { FakeEtcd } from '../../etcd/testing/fake-etcd.ts';

/** Resolves with a loaded cache over a fake etcd. */
export async function openCached(etcd: FakeEtcd, options: Partial<CacheOptions> = {}): Promise<Store> {
  const inner = makeStore(etcd, { progressInterval: 20 });
  const store = cacheStore(inner, { prefix: '/', progressInterval: 20, ...options });
  await eventually('the cache to be loaded', 10_000, () => expect(store.synced).toBe(true));
  return store;
}
