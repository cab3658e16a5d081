import type { KubeObject } from '#shared/base/meta';
import type { TraceContext } from '#shared/base/telemetry';

/** A collection of the API and, as a phantom, the type of its objects. */
export interface Kind<T extends KubeObject = KubeObject> {
  /** As written in manifests: `v1`, `arc.opendefense.cloud/v1alpha1`. */
  apiVersion: string;
  kind: string;
  plural: string;
  namespaced: boolean;
  readonly _type?: T;
}

/** One object of a kind. `namespace` is absent for cluster-scoped kinds. */
export interface Key {
  name: string;
  namespace?: string;
}

/** One object to be read. */
export interface ReadKey extends Key {
  /** A hint: `<label>=<value>` that few objects have, this one among them. Several that are asked for at a time can then be read in one list. */
  among?: string | undefined;
}

/** One object whose metadata is to be read. */
export interface MetadataKey extends Key {
  /**
   * A state not older than this resourceVersion of the same API server will do: it can then come from its memory. Absent: the newest. It may
   * be that of an object of another kind, where both are known to be kept by our own API server, which counts all its writes together.
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
 * A small Kubernetes client over fetch. Every method rejects with ArcError carrying the code of the Status the server
 * answered; nothing is retried here. All calls have a deadline (default 30 s; a watch has none but its signal).
 */
export interface KubeClient {
  /** The same client, whose requests all carry this trace context unchanged (see TransportOptions.trace). */
  traced(trace: TraceContext): KubeClient;
  /** undefined when there is no such object; every other failure rejects. */
  get<T extends KubeObject>(kind: Kind<T>, key: ReadKey, signal?: AbortSignal): Promise<T | undefined>;
  /** The same without spec and status: what is asked of a large object is often only whether it is there still, or is to be deleted. */
  getMetadata(kind: Kind, key: MetadataKey, signal?: AbortSignal): Promise<KubeObject | undefined>;
  /**
   * All items, read in pages of 500 at one resourceVersion (or one page, with `limit`); rejects with Expired if history
   * went away in between.
   */
  list<T extends KubeObject>(
    kind: Kind<T>,
    options?: ListOptions,
    signal?: AbortSignal,
  ): Promise<ListPage<T>>;
  create<T extends KubeObject>(kind: Kind<T>, object: T, signal?: AbortSignal): Promise<T>;
  /** PUT; `metadata.resourceVersion` in `object` is the precondition. */
  replace<T extends KubeObject>(kind: Kind<T>, object: T, signal?: AbortSignal): Promise<T>;
  /** JSON merge patch (RFC 7396) of the object, or of its status subresource. A `metadata.resourceVersion` in it guards the write. */
  mergePatch<T extends KubeObject>(
    kind: Kind<T>,
    key: Key,
    patch: object,
    options?: { subresource?: 'status' },
    signal?: AbortSignal,
  ): Promise<T>;
  /**
   * The log of a container of a pod from the first of its last `tailLines` lines on, at most `limitBytes` of it. The deadline is the one of
   * other calls: a log that is still written is not followed.
   */
  log(pod: Key, options: LogOptions, signal?: AbortSignal): Promise<string>;
  /** False when it was gone already. Propagation is Background unless said otherwise. */
  delete(kind: Kind, key: Key, options?: DeleteOptions, signal?: AbortSignal): Promise<boolean>;
  /**
   * Changes after `resourceVersion`, in order, with bookmarks. Ends when the server closes the watch or `signal` is
   * aborted; rejects with the code of an ERROR event (Expired: list again), ServiceUnavailable when the connection
   * breaks, InternalError for lines that are not watch events.
   */
  watch<T extends KubeObject>(
    kind: Kind<T>,
    options: WatchOptions,
    signal: AbortSignal,
  ): AsyncIterable<WatchEvent<T>>;
}

/** Which objects of a kind. */
export interface Selection {
  /** Absent: all namespaces. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** The server sends only the metadata of the objects (meta.k8s.io/v1 PartialObjectMetadata). */
  metadataOnly?: boolean;
}

export interface ListOptions extends Selection {
  /** Read one page of at most this many items instead of everything; `continue` of the answer says where to go on. */
  limit?: number;
  /** Where the page starts: `continue` of the page before. Only with `limit`. */
  continue?: string;
  /** Rejects with RequestEntityTooLarge where the page is larger. Only with `limit`: ask for fewer then. */
  mostBytes?: number;
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
  /** How long the server is asked to keep the watch open. */
  timeoutSeconds?: number;
  /** Rejects with Timeout when the server sends nothing, not even a bookmark, for so long. Absent: the limit of fetch (5 minutes in Node). */
  inactivityMs?: number;
}
