import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedStore } from '#shared/storage';
import { describeStore, type StoreUnderTest } from './store.ts';

describeStore('the embedded store', open);

async function open(): Promise<StoreUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), 'arc-store-'));
  const options = { folder, progressInterval: 20 };
  let store = await openEmbeddedStore(options);
  return {
    store,
    async reopen() {
      await store.close();
      store = await openEmbeddedStore(options);
      return store;
    },
    async dispose() {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
}
