/** Where objects live: one interface, the embedded store behind it (etcd joins it later). */

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
