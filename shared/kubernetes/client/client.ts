import type { KubeObject } from '#shared/base/meta';
import type { TraceContext } from '#shared/base/telemetry';

/** A resource of the API, with the type of its objects as a phantom type. */
export interface Kind<T extends KubeObject = KubeObject> {
  /** As written in manifests: `v1`, `arc.opendefense.cloud/v1alpha1`. */
  apiVersion: string;
  kind: string;
  plural: string;
  namespaced: boolean;
  readonly _type?: T;
}

/** The key of an object. `namespace` is absent for cluster-scoped kinds. */
export interface Key {
  name: string;
  namespace?: string;
}

/** The key of an object to read. */
export interface ReadKey extends Key {
  /** Read this subresource instead of the object. */
  subresource?: string;
  /** A hint: a selector `<label>=<value>` that matches this object and few others. Concurrent reads with such hints are batched into one list. */
  among?: string | undefined;
}

/** The key of an object whose metadata to read. */
export interface MetadataKey extends Key {
  /**
   * Accepts a cached state at least as new as this resourceVersion. Absent: the newest state. May be the resourceVersion of another kind if
   * both are stored by ARC's API server, whose revisions are shared by all kinds.
   */
  notOlderThan?: string | undefined;
}

export interface ListPage<T> {
  items: T[];
  resourceVersion: string;
  continue?: string;
}

export type WatchEvent<T> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T }
  | { type: 'BOOKMARK'; resourceVersion: string };

/**
 * A small Kubernetes client based on fetch. Methods reject with an ArcError with the reason of the Status in the response. Nothing is
 * retried. All calls have a deadline (default 30 s), except watches.
 */
export interface KubeClient {
  /** Returns the same client; its requests carry this trace context unchanged (see TransportOptions.trace). */
  traced(trace: TraceContext): KubeClient;
  /** Resolves with undefined if the object does not exist; every other failure rejects. */
  get<T extends KubeObject>(kind: Kind<T>, key: ReadKey, signal?: AbortSignal): Promise<T | undefined>;
  /** Like `get`, without spec and status, for example to check whether a large object exists or is being deleted. */
  getMetadata(kind: Kind, key: MetadataKey, signal?: AbortSignal): Promise<KubeObject | undefined>;
  /**
   * Resolves with all items, read in pages of 500 at one resourceVersion (or with one page, given `limit`). Rejects with Expired if the
   * history was compacted in between.
   */
  list<T extends KubeObject>(
    kind: Kind<T>,
    options?: ListOptions,
    signal?: AbortSignal,
  ): Promise<ListPage<T>>;
  create<T extends KubeObject>(kind: Kind<T>, object: T, signal?: AbortSignal): Promise<T>;
  /** PUT; `metadata.resourceVersion` in `object` is the precondition. */
  replace<T extends KubeObject>(kind: Kind<T>, object: T, signal?: AbortSignal): Promise<T>;
  /** JSON merge patch (RFC 7396) of the object, or of its status subresource. A `metadata.resourceVersion` in the patch is a precondition. */
  mergePatch<T extends KubeObject>(
    kind: Kind<T>,
    key: Key,
    patch: object,
    options?: { subresource?: 'status' },
    signal?: AbortSignal,
  ): Promise<T>;
  /**
   * Resolves with the last `tailLines` lines of a container's log, at most `limitBytes`. Does not follow the log.
   */
  log(pod: Key, options: LogOptions, signal?: AbortSignal): Promise<string>;
  /** Resolves with false if the object does not exist. Default propagation: Background. */
  delete(kind: Kind, key: Key, options?: DeleteOptions, signal?: AbortSignal): Promise<boolean>;
  /**
   * Yields the changes after `resourceVersion`, in order, with bookmarks. Ends when the server closes the watch or `signal` is
   * aborted; rejects with the code of an ERROR event (Expired: list again), ServiceUnavailable when the connection
   * breaks, InternalError for lines that are not watch events.
   */
  watch<T extends KubeObject>(
    kind: Kind<T>,
    options: WatchOptions,
    signal: AbortSignal,
  ): AsyncIterable<WatchEvent<T>>;
}

/** Selects objects of a kind. */
export interface Selection {
  /** Absent: all namespaces. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Requests only the metadata of the objects (meta.k8s.io/v1 PartialObjectMetadata). */
  metadataOnly?: boolean;
}

export interface ListOptions extends Selection {
  /** Reads one page of at most this many items; `continue` of the result is the token of the next page. */
  limit?: number;
  /** The start of the page: `continue` of the previous page. Only with `limit`. */
  continue?: string | undefined;
  /**
   * Rejects with RequestEntityTooLarge if all items together are larger; given `limit`, if the page is, and the caller then reduces `limit`.
   */
  maxBytes?: number | undefined;
}

export interface LogOptions {
  container: string;
  tailLines: number;
  limitBytes: number;
}

export interface DeleteOptions {
  uid?: string;
  resourceVersion?: string;
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
}

export interface WatchOptions extends Selection {
  resourceVersion: string;
  /** Timeout of the watch on the server. */
  timeoutSeconds?: number;
  /** Rejects with Timeout if the server sends nothing, not even a bookmark, for this time. Absent: the limit of fetch (5 minutes in Node). */
  inactivityMs?: number;
}
