import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { cacheStore, openEmbeddedStore, type Store } from '#shared/kubernetes/storage';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { describeStore, type StoreUnderTest } from './store.ts';

describeStore('the cached store over the embedded one', open);

async function open(): Promise<StoreUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), 'arc-store-'));
  let store = await openCached(folder);
  return {
    store,
    async reopen() {
      await store.close();
      store = await openCached(folder);
      return store;
    },
    async dispose() {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function openCached(folder: string): Promise<Store> {
  const store = cacheStore(await openEmbeddedStore({ folder, progressInterval: 20 }), {
    prefix: '/',
    progressInterval: 20,
  });
  await eventually('the cache to be loaded', 10_000, () => expect(store.synced).toBe(true));
  return store;
}
