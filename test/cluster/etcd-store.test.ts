import path from 'node:path';
import { describe, vi } from 'vitest';
import { openEtcdStore } from '#shared/storage';
import { describeStore, type StoreUnderTest } from '../contract/store.ts';
import { startEtcd } from '../fixtures/etcd-process.ts';

const assets = process.env.KUBEBUILDER_ASSETS;
if (process.env.CI && !assets)
  throw new Error('set KUBEBUILDER_ASSETS to a folder that holds etcd 3.5.13 or newer');
if (!assets)
  console.log('skipped: the tests of the etcd store need KUBEBUILDER_ASSETS, a folder that holds etcd');
const binary = path.join(assets ?? '', 'etcd');

// The model test alone makes some 40,000 reads, each of them a call to another process.
vi.setConfig({ testTimeout: 240_000 });

describe.skipIf(!assets)('with a real etcd', () => {
  describeStore('the etcd store', open);
});

/** Every store has an etcd of its own: the contract wants it empty, and compactions are for the whole of one. */
async function open(): Promise<StoreUnderTest> {
  const etcd = await startEtcd(binary);
  const options = { endpoints: [etcd.endpoint], progressInterval: 50 };
  let store = await openEtcdStore(options);
  return {
    store,
    async reopen() {
      await store.close();
      store = await openEtcdStore(options);
      return store;
    },
    async dispose() {
      await store.close();
      await etcd.stop();
    },
  };
}
