/** A small Kubernetes client: get, list, watch, patch, and the list-watch loop the bridge and the executor run on. */
export type {
  DeleteOptions,
  Key,
  Kind,
  KubeClient,
  ListOptions,
  ListPage,
  Metadata,
  Owner,
  Resource,
  WatchEvent,
  WatchOptions,
} from './client.ts';
