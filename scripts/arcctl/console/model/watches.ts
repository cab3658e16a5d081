import { pause } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import {
  type ArtifactType,
  type ArtifactWorkflow,
  artifactTypes,
  artifactWorkflows,
  clusterArtifactTypes,
  type Endpoint,
  endpoints,
  events,
  type KubeEvent,
  type Order,
  orders,
} from '#shared/domain';
import { type Kind, type KubeClient, type ListWatch, listWatch } from '#shared/kubernetes/client';

/** The objects of one kind, watched while there are viewers. */
export interface SharedWatch<T> {
  values(): T[];
  /** True after the first list: an empty list then means no objects. */
  readonly isSynced: boolean;
  /** The last error of the API, if recent. */
  readonly failure: ArcError | undefined;
}

/** The data sources of the pages. */
interface Watched {
  orders: SharedWatch<Order>;
  artifactWorkflows: SharedWatch<ArtifactWorkflow>;
  endpoints: SharedWatch<Endpoint>;
  events: SharedWatch<KubeEvent>;
  artifactTypes: SharedWatch<ArtifactType>;
  clusterArtifactTypes: SharedWatch<ArtifactType>;
}

export interface Watches extends Watched {
  /** Watches these kinds until it is disposed. All viewers share one watch per kind. */
  look(kinds: readonly WatchedKind[]): Subscription;
  /** Current number of watches. */
  readonly open: number;
}

export type WatchedKind = keyof Watched;

export interface Subscription extends Disposable {
  /** Resolves when each kind was listed, or has failed; rejects with Timeout. */
  ready(signal: AbortSignal): Promise<void>;
  /** Resolves with the next change, not before `leastMs` and not after `mostMs`. */
  changed(leastMs: number, mostMs: number, signal: AbortSignal): Promise<void>;
}

/** The watch loop retries at least every 30 seconds: an older failure has been resolved. */
const failureMs = 45_000;
const readyMs = 15_000;

/**
 * Creates the watches of one namespace, or of all. A watch starts with the first viewer and ends `lingerMs` after the last one, so that
 * navigation between pages does not relist.
 */
export function createWatches(
  api: KubeClient,
  namespace: string | undefined,
  signal: AbortSignal,
  lingerMs = 10_000,
): Watches {
  const common = { api, namespace, signal, lingerMs };
  const all = {
    orders: createShared(orders, common),
    artifactWorkflows: createShared(artifactWorkflows, common),
    endpoints: createShared(endpoints, common),
    events: createShared(events, common),
    artifactTypes: createShared(artifactTypes, common),
    clusterArtifactTypes: createShared(clusterArtifactTypes, { ...common, namespace: undefined }),
  };
  return {
    ...all,
    get open() {
      return Object.values(all).filter(({ isOpen }) => isOpen()).length;
    },
    look(kinds) {
      const looked = kinds.map((kind) => all[kind]);
      let news = new AbortController();
      const listener = () => news.abort();
      for (const each of looked) each.enter(listener);
      return {
        async ready(outer) {
          const late = performance.now() + readyMs;
          while (looked.some((each) => !each.isSettled()) && !outer.aborted) {
            if (performance.now() > late)
              throw new ArcError('Timeout', 'the cluster has not responded yet: reload the page');
            await pause(1_000, [outer, news.signal]);
            news = new AbortController();
          }
        },
        async changed(leastMs, mostMs, outer) {
          await pause(leastMs, outer);
          await pause(mostMs - leastMs, [outer, news.signal]);
          news = new AbortController();
        },
        [Symbol.dispose]() {
          for (const each of looked) each.leave(listener);
        },
      };
    },
  };
}

interface Common {
  api: KubeClient;
  namespace: string | undefined;
  signal: AbortSignal;
  lingerMs: number;
}

function createShared<T extends KubeObject>(kind: Kind<T>, { api, namespace, signal, lingerMs }: Common) {
  const viewers = new Set<() => void>();
  const ring = () => {
    for (const viewer of viewers) viewer();
  };
  let current: { loop: ListWatch<T>; ending: AbortController } | undefined;
  let failed: { error: ArcError; atMs: number } | undefined;
  let timer: NodeJS.Timeout | undefined;

  const begin = () => {
    const ending = new AbortController();
    const end = () => ending.abort();
    signal.addEventListener('abort', end, { once: true });
    ending.signal.addEventListener('abort', () => signal.removeEventListener('abort', end), { once: true });
    if (signal.aborted) end();
    failed = undefined;
    const loop = listWatch<T>(
      api,
      kind,
      {
        ...(namespace !== undefined && { namespace }),
        keep: withoutManagedFields,
        onChange() {
          failed = undefined;
          ring();
        },
        onSync() {
          failed = undefined;
          ring();
        },
        onFailure(error) {
          // The watch history expired (410): the loop relists immediately.
          if (error.code === 'Expired') return;
          failed = { error, atMs: performance.now() };
          ring();
        },
      },
      { signal: ending.signal },
    );
    current = { loop, ending };
  };
  const failure = () => (failed && performance.now() - failed.atMs < failureMs ? failed.error : undefined);
  return {
    /** `viewer` is called on each change. */
    enter(viewer: () => void) {
      viewers.add(viewer);
      clearTimeout(timer);
      if (!current) begin();
    },
    leave(viewer: () => void) {
      viewers.delete(viewer);
      if (viewers.size > 0) return;
      timer = setTimeout(() => {
        current?.ending.abort();
        current = undefined;
      }, lingerMs).unref();
    },
    isOpen: () => current !== undefined,
    isSettled: () => current?.loop.synced === true || failure() !== undefined,
    values: () => (current ? [...current.loop.known.values()] : []),
    get isSynced() {
      return current?.loop.synced === true;
    },
    get failure() {
      return failure();
    },
  };
}

/** Drops managedFields, which no page shows and which are a third of an object. */
function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
