/** Objects in etcd 3 (or kine, which speaks a part of its API): the Store contract over its range, txn and watch calls. */

export type { EtcdTls } from './endpoints.ts';
export { type EtcdStoreOptions, openEtcdStore, type RenewableStore } from './open-etcd.ts';
