import { createBackoff, pause, steadyClock, yieldToEventLoop } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import type { Kind, KubeClient, Selection } from './client.ts';
import { type Change, createKnownObjects, type KnownObjects, type KnownStates } from './known-objects.ts';
import { createPageReader } from './page-reader.ts';

/** The objects to watch, and callbacks, which run in order and must not throw. */
export interface ListWatchHandler<T extends KubeObject, K = T> extends Selection {
  onChange(change: Change<T, K>): void;
  /** Called after a complete list: the known state is at `resourceVersion`. `first` is true once. */
  onSync?(sync: { first: boolean; resourceVersion: string }): void;
  /** Called when a list or watch fails, before it is retried. For logging. */
  onFailure?(error: ArcError): void;
  /** Returns the part of an object to keep and to pass as `before`; undefined: none. Default: the whole object. */
  keep?(object: T): K | undefined;
  /** Storage of the kept parts, initially empty. Default: a Map. */
  states?: KnownStates<K>;
}

export interface ListWatchOptions {
  signal: AbortSignal;
  random?: () => number;
  /** Reopens a watch without events, including bookmarks, after this time. Default 3 minutes. */
  inactivityMs?: number;
  /** Backoff between attempts, in milliseconds. Default 200 up to 30 s. */
  backoff?: { baseMs: number; maxMs: number };
}

export interface ListWatchCounters {
  /** Lists after the first list. */
  relists: number;
  /** Relists after compaction, in which intermediate changes were missed. */
  gaps: number;
  /** Deletions found by comparing a list with the known objects. */
  foundDeleted: number;
  /** Watches opened. */
  watches: number;
  /** Changes passed to `onChange`. */
  changes: number;
}

export interface ListWatch<K> {
  /** Resolves when the signal is aborted. Rejects only if a handler throws. */
  readonly done: Promise<void>;
  /** True after the first complete list. */
  readonly synced: boolean;
  /**
   * Time of the last response or failure, in terms of `steadyClock`. Stops advancing only if the loop hangs, not while the server is
   * unavailable. For liveness checks.
   */
  readonly lastTurn: number;
  readonly counters: Readonly<ListWatchCounters>;
  readonly known: Pick<KnownObjects<KubeObject, K>, 'get' | 'values' | 'size'>;
}

/** Duration after which a watch counts as successful without events. */
const stableWatchMs = 5_000;
/** Objects compared between two yields to the event loop. */
const compareBatch = 50;

/**
 * Follows all objects of a kind until `signal` is aborted (a reflector): lists, reports differences from the known objects including
 * deletions, watches, and resumes the watch when it ends. Relists only if the resourceVersion is compacted or the stream is invalid.
 * Level-triggered: regardless of missed events, the reported changes lead to the current state.
 */
export function listWatch<T extends KubeObject, K = T>(
  client: KubeClient,
  kind: Kind<T>,
  handler: ListWatchHandler<T, K>,
  options: ListWatchOptions,
): ListWatch<K> {
  const { signal, random = Math.random, inactivityMs = 180_000 } = options;
  // Without `keep`, K is T by the default of the type parameter, which the compiler cannot see.
  const keep = handler.keep?.bind(handler) ?? ((object: T) => object as unknown as K);
  const known = createKnownObjects(kind, keep, handler.states);
  const counters: ListWatchCounters = { relists: 0, gaps: 0, foundDeleted: 0, watches: 0, changes: 0 };
  const backoff = createBackoff({ ...options.backoff, random });
  /** Backoff of relists, which is not reset by a watch that delivers events before it expires again. */
  const relistBackoff = createBackoff({ ...options.backoff, random });
  const state = {
    synced: false,
    lastTurn: steadyClock.now(),
    resourceVersion: undefined as string | undefined,
  };
  let consecutiveExpirations = 0;
  /** True if a request has failed since the last watch began: the server may have been restored from a backup. */
  let wasInterrupted = false;
  const { namespace, labelSelector, fieldSelector, metadataOnly } = handler;
  const selection: Selection = {
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
    ...(metadataOnly !== undefined && { metadataOnly }),
  };

  const noteProgress = () => {
    state.lastTurn = steadyClock.now();
  };

  const emit = (changes: Change<T, K>[]) => {
    for (const change of changes) {
      counters.changes += 1;
      guarded(() => handler.onChange(change));
    }
  };

  let compared = 0;
  const emitAndYield = async (changes: Change<T, K>[]) => {
    emit(changes);
    compared += 1;
    if (compared % compareBatch === 0) await yieldToEventLoop();
  };

  const readPage = createPageReader();

  /** Lists and reports added and modified objects. Resolves with the resourceVersion of the list. */
  const applyList = async (seen: Set<string> | undefined): Promise<string> => {
    let next: { continue?: string } = {};
    let resourceVersion: string | undefined;
    do {
      const page = await readPage((limit, { bytes: maxBytes }) =>
        client.list(kind, { ...selection, ...next, limit, maxBytes }, signal),
      );
      noteProgress();
      resourceVersion ??= page.resourceVersion;
      for (const object of page.items) {
        seen?.add(known.keyOf(object));
        await emitAndYield(known.put(object));
        if (signal.aborted) break;
      }
      next = page.continue === undefined ? {} : { continue: page.continue };
    } while (next.continue !== undefined && !signal.aborted);
    return resourceVersion;
  };

  const applyDeletions = async (seen: ReadonlySet<string>): Promise<void> => {
    for (const change of known.retain(seen)) {
      if (change !== undefined) counters.foundDeleted += 1;
      await emitAndYield(change === undefined ? [] : [change]);
      if (signal.aborted) return;
    }
  };

  const list = async (): Promise<string> => {
    if (state.synced) counters.relists += 1;
    // Without known objects there are no deletions, so the keys of up to a million objects need not be kept.
    const seen = known.size > 0 ? new Set<string>() : undefined;
    const resourceVersion = await applyList(seen);
    if (seen !== undefined && !signal.aborted) await applyDeletions(seen);
    if (signal.aborted) return resourceVersion;
    const first = !state.synced;
    state.synced = true;
    guarded(() => handler.onSync?.({ first, resourceVersion }));
    return resourceVersion;
  };

  /**
   * Rejects with Expired if the server is at an earlier resourceVersion than `from`, because a backup was restored. The server would accept
   * the watch, but send nothing until it reaches that resourceVersion.
   */
  const checkHistory = async (from: string): Promise<void> => {
    const { resourceVersion: current } = await client.list(kind, { ...selection, limit: 1 }, signal);
    noteProgress();
    if (isEarlier(current, from))
      throw new ArcError(
        'Expired',
        `the server is at resourceVersion ${current}, before the known resourceVersion ${from}`,
      );
  };

  /** Resolves with true if the watch delivered an event or stayed open for some time. */
  const watch = async (from: string): Promise<boolean> => {
    counters.watches += 1;
    const opened = performance.now();
    let succeeded = false;
    const timeoutSeconds = 300 + Math.floor(random() * 300);
    const open = { ...selection, resourceVersion: from, timeoutSeconds, inactivityMs };
    for await (const event of client.watch(kind, open, signal)) {
      succeeded = true;
      noteProgress();
      backoff.reset();
      if (performance.now() - opened > stableWatchMs) consecutiveExpirations = 0;
      if (event.type === 'BOOKMARK') {
        state.resourceVersion = event.resourceVersion;
        continue;
      }
      emit(event.type === 'DELETED' ? known.remove(event.object) : known.put(event.object));
      state.resourceVersion = event.object.metadata.resourceVersion ?? state.resourceVersion;
    }
    if (performance.now() - opened > stableWatchMs) {
      succeeded = true;
      backoff.reset();
      consecutiveExpirations = 0;
    }
    return succeeded;
  };

  const failed = async (error: ArcError): Promise<void> => {
    noteProgress();
    handler.onFailure?.(error);
    const gone = error.code === 'Expired' && state.resourceVersion !== undefined;
    wasInterrupted = true;
    if (!isTransient(error)) state.resourceVersion = undefined;
    const atLeastMs = (error.details?.retryAfterSeconds ?? 0) * 1000;
    if (!gone) {
      await pause(backoff.next(atLeastMs), signal);
      return;
    }
    counters.gaps += 1;
    consecutiveExpirations += 1;
    // The first relist is immediate. Further ones back off, because the server returns resourceVersions that expire immediately.
    if (consecutiveExpirations === 1) relistBackoff.reset();
    else await pause(relistBackoff.next(atLeastMs), signal);
  };

  const resumeOrList = async (): Promise<string> => {
    const { resourceVersion: known } = state;
    if (known !== undefined && wasInterrupted) await checkHistory(known);
    wasInterrupted = false;
    return known ?? list();
  };

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        state.resourceVersion = await resumeOrList();
        if (signal.aborted) return;
        if (!(await watch(state.resourceVersion)) && !signal.aborted) await pause(backoff.next(), signal);
      } catch (caught) {
        if (caught instanceof HandlerFailure) throw caught.cause;
        if (!signal.aborted) await failed(ArcError.from(caught));
      }
    }
  };

  return {
    done: run(),
    get synced() {
      return state.synced;
    },
    get lastTurn() {
      return state.lastTurn;
    },
    counters,
    known,
  };
}

/** Tells whether the watch can resume at the same resourceVersion after a failure; otherwise a relist is required. */
function isTransient(error: ArcError): boolean {
  return ArcError.is(error, 'ServiceUnavailable', 'Timeout', 'TooManyRequests');
}

const wholeNumber = /^\d{1,40}$/;

/** Compares resourceVersions, which are increasing integers (KEP-5504); false if they are not. */
function isEarlier(version: string, than: string): boolean {
  return wholeNumber.test(version) && wholeNumber.test(than) && BigInt(version) < BigInt(than);
}

/** Wraps an error of a handler, which is a programming error and not retried. */
class HandlerFailure extends Error {}

function guarded(call: () => void): void {
  try {
    call();
  } catch (caught) {
    throw new HandlerFailure('a handler threw', { cause: caught });
  }
}
