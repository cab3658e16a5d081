/** Where objects live: one interface; the embedded store of one process, etcd, and a cache over the latter. */

export { type CacheOptions, cacheStore } from './cache/cached-store.ts';
export { Freshness } from './cache/freshness.ts';
export { StoreDamaged } from './embedded/damage.ts';
export { type EmbeddedStoreOptions, openEmbeddedStore } from './embedded/open-embedded.ts';
export { type Recovery, recoverEmbeddedStore } from './embedded/recover.ts';
export type { EtcdTls } from './etcd/endpoints.ts';
export { type EtcdStoreOptions, openEtcdStore } from './etcd/open-etcd.ts';
export type {
  Finding,
  IndexedBy,
  ListOptions,
  ReadOptions,
  Store,
  StoredItem,
  StoredList,
  StoreEvent,
  WatchBatch,
  WatchOptions,
  WriteResult,
} from './interface/store.ts';
export { itemOf } from './memory/items.ts';
