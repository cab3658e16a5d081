/**
 * A small Kubernetes client: get, list, watch, patch, and a list-watch loop (reflector). Credentials of kubeconfigs are handled by the
 * official client: docs/decisions/0014-official-client-for-credentials-only.md.
 */
export { type AccessChoice, functionAccess, programAccess } from './access.ts';
export type {
  DeleteOptions,
  Key,
  Kind,
  KubeClient,
  ListOptions,
  ListPage,
  LogOptions,
  MetadataKey,
  ReadKey,
  Selection,
  WatchEvent,
  WatchOptions,
} from './client.ts';
export { createKubeClient } from './create-client.ts';
export { fileToken, inClusterAccess } from './in-cluster.ts';
export type { Change, KnownStates } from './known-objects.ts';
export {
  type ListWatch,
  type ListWatchCounters,
  type ListWatchHandler,
  type ListWatchOptions,
  listWatch,
} from './list-watch.ts';
export { sharedReads } from './shared-reads.ts';
export { nodeFetch } from './transport/node-fetch.ts';
export { isGone } from './transport/status.ts';
export {
  type ClusterAccess,
  createTransport,
  type Outgoing,
  type Transport,
  type TransportOptions,
} from './transport/transport.ts';
export { collectionPath, objectPath, query } from './url.ts';
