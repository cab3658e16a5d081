/** Where objects live: one interface; the embedded store of one process, etcd, and a cache over the latter. */

export { type CacheOptions, cacheStore } from './cache/index.ts';
export { type EmbeddedStoreOptions, openEmbeddedStore } from './embedded/open-embedded.ts';
export { type EtcdStoreOptions, type EtcdTls, openEtcdStore } from './etcd/index.ts';
export { itemOf } from './item-of.ts';
export type {
  ListOptions,
  ReadOptions,
  Store,
  StoredItem,
  StoredList,
  StoreEvent,
  WatchBatch,
  WatchOptions,
  WriteResult,
} from './store.ts';
