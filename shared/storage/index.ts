/** Where objects live: one interface, the embedded store of one process and etcd behind it. */

export { type EtcdStoreOptions, type EtcdTls, openEtcdStore } from './etcd/index.ts';
export { type EmbeddedStoreOptions, openEmbeddedStore } from './open-embedded.ts';
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
