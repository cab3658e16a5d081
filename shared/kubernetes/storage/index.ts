/** Storage of objects: the Store interface, an embedded store for a single process, etcd, and a watch cache. */

export { revisionsAhead } from './backup/format.ts';
export { type Backup, readBackup } from './backup/read-backup.ts';
export { type Restored, restoreItems } from './backup/restore-items.ts';
export { writeBackup } from './backup/write-backup.ts';
export { type CacheOptions, cacheStore } from './cache/cached-store.ts';
export { Freshness } from './cache/freshness.ts';
export { StoreDamaged } from './embedded/damage.ts';
export { type EmbeddedStoreOptions, openEmbeddedStore } from './embedded/open-embedded.ts';
export { type Recovery, recoverEmbeddedStore } from './embedded/recover.ts';
export { restoreEmbeddedStore } from './embedded/restore-embedded.ts';
export type { EtcdTls } from './etcd/endpoints.ts';
export { type EtcdStoreOptions, openEtcdStore, raiseEtcdRevision } from './etcd/open-etcd.ts';
export type {
  IndexLookup as Finding,
  ItemIndexer as IndexedBy,
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
