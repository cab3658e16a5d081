import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedStore } from '#shared/kubernetes/storage';
import { describeStore, type StoreUnderTest } from './store.ts';

describeStore('the embedded store', open);

async function open(): Promise<StoreUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), 'arc-store-'));
  // So few that most of the history is read from disk.
  const options = { folder, progressInterval: 20, recentBytes: 500 };
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
