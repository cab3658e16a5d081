import { createBackoff, pause, steadyClock, yieldToEventLoop } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import type { Kind, KubeClient, Selection } from './client.ts';
import { type Change, createKnownObjects, type KnownObjects, type KnownStates } from './known-objects.ts';

/** The objects to watch, and callbacks, which are called in order and must not throw. */
export interface ListWatchHandler<T extends KubeObject, K = T> extends Selection {
  onChange(change: Change<T, K>): void;
  /** A list is complete: the known state is that of `resourceVersion`. `first` is true once. */
  onSync?(sync: { first: boolean; resourceVersion: string }): void;
  /** A list or watch failed and will be retried. For the log. */
  onFailure?(error: ArcError): void;
  /** Returns the part of each object to keep, and to pass as `before`; undefined keeps nothing. Default: the whole object. */
  keep?(object: T): K | undefined;
  /** The storage of these parts, initially empty. Default: a Map. */
  states?: KnownStates<K>;
}

export interface ListWatchOptions {
  signal: AbortSignal;
  random?: () => number;
  /** A watch without any event, bookmarks included, for this long is reopened. Default 3 minutes. */
  inactivityMs?: number;
  /** Backoff between attempts, in milliseconds. Default 200 up to 30 s. */
  backoff?: { baseMs: number; maxMs: number };
}

export interface ListWatchCounters {
  /** Lists after the first. */
  relists: number;
  /** Times that the server had compacted the history: the intermediate changes were seen only as their sum. */
  gaps: number;
  /** Deletions found by comparing a list with the known objects. */
  foundDeleted: number;
  /** Watches opened. */
  watches: number;
  /** Changes passed to `onChange`. */
  changes: number;
}

export interface ListWatch<K> {
  /** Ends when the signal is aborted; rejects only if a handler throws. */
  readonly done: Promise<void>;
  /** True from the first complete list on. */
  readonly synced: boolean;
  /**
   * When the loop last made progress, in ms of `steadyClock`: the server answered, or a request failed. Stands still only if
   * the loop hangs, not while the server is away. For liveness checks.
   */
  readonly lastTurn: number;
  readonly counters: Readonly<ListWatchCounters>;
  readonly known: Pick<KnownObjects<KubeObject, K>, 'get' | 'values' | 'size'>;
}

const pageSize = 500;
/**
 * Reading a page briefly takes about six times its size in memory, and several kinds are listed at once. Objects may exceed a
 * megabyte, and 500 of these would fit neither in memory nor in a string.
 */
const pageBytes = 16 * 1024 * 1024;
const quietMs = 5_000;
/** Objects of a list compared per turn of the event loop: there may be a million. */
const looksAtOnce = 50;

/**
 * Follows all objects of a kind until `signal` is aborted: lists, reports the difference from the known objects (deletions
 * included), watches, resumes where the watch ended. Lists again only if the history is gone or the stream is unreadable.
 * Level-triggered: whatever was missed, the reported changes add up to the current state.
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
  /** Backoff of lists after lost history: a watch that delivers something before it expires again is no reason to hurry. */
  const relistBackoff = createBackoff({ ...options.backoff, random });
  const state = {
    synced: false,
    lastTurn: steadyClock.now(),
    resourceVersion: undefined as string | undefined,
  };
  let expiredInARow = 0;
  /** True if a request has failed since the last watch was opened: the server may have been restored meanwhile. */
  let wasCut = false;
  const { namespace, labelSelector, fieldSelector, metadataOnly } = handler;
  const selection: Selection = {
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
    ...(metadataOnly !== undefined && { metadataOnly }),
  };

  const turn = () => {
    state.lastTurn = steadyClock.now();
  };

  const emit = (changes: Change<T, K>[]) => {
    for (const change of changes) {
      counters.changes += 1;
      guarded(() => handler.onChange(change));
    }
  };

  let looks = 0;
  const take = async (changes: Change<T, K>[]) => {
    emit(changes);
    looks += 1;
    if (looks % looksAtOnce === 0) await yieldToEventLoop();
  };

  let limit = pageSize;
  /** Reads one page. Pages of large objects have fewer items, then slowly more again. */
  const readPage = async (next: { continue?: string }) => {
    for (;;) {
      // A single object is read whatever its size, and everything from a server without pages.
      const bound = limit > 1 ? { mostBytes: pageBytes } : {};
      try {
        const page = await client.list(kind, { ...selection, ...next, ...bound, limit }, signal);
        limit = Math.min(pageSize, Math.ceil(limit * 1.1));
        return page;
      } catch (caught) {
        if (limit === 1 || !ArcError.is(caught, 'RequestEntityTooLarge')) throw caught;
        limit = Math.ceil(limit / 8);
      }
    }
  };

  /** Resolves with the resourceVersion of the list. */
  const takeListed = async (seen: Set<string> | undefined): Promise<string> => {
    let next: { continue?: string } = {};
    let resourceVersion: string | undefined;
    do {
      const page = await readPage(next);
      turn();
      resourceVersion ??= page.resourceVersion;
      for (const object of page.items) {
        seen?.add(known.keyOf(object));
        await take(known.put(object));
        if (signal.aborted) break;
      }
      next = page.continue === undefined ? {} : { continue: page.continue };
    } while (next.continue !== undefined && !signal.aborted);
    return resourceVersion;
  };

  const takeGone = async (seen: ReadonlySet<string>): Promise<void> => {
    for (const change of known.retain(seen)) {
      if (change !== undefined) counters.foundDeleted += 1;
      await take(change === undefined ? [] : [change]);
      if (signal.aborted) return;
    }
  };

  const list = async (): Promise<string> => {
    if (state.synced) counters.relists += 1;
    // Without known objects nothing can be deleted: the keys of up to a million objects need not be noted.
    const seen = known.size > 0 ? new Set<string>() : undefined;
    const resourceVersion = await takeListed(seen);
    if (seen !== undefined && !signal.aborted) await takeGone(seen);
    if (signal.aborted) return resourceVersion;
    const first = !state.synced;
    state.synced = true;
    guarded(() => handler.onSync?.({ first, resourceVersion }));
    return resourceVersion;
  };

  /**
   * Rejects with Expired if the server is at an earlier version than `from`: a backup was restored. The server would accept a watch from
   * there, and send nothing until its own versions have caught up.
   */
  const checkHistory = async (from: string): Promise<void> => {
    const { resourceVersion: current } = await client.list(kind, { ...selection, limit: 1 }, signal);
    turn();
    if (isEarlier(current, from))
      throw new ArcError('Expired', `the server is at resourceVersion ${current} and was at ${from} before`);
  };

  /** Resolves with true if the watch delivered an event or stayed open for a while. */
  const watch = async (from: string): Promise<boolean> => {
    counters.watches += 1;
    const opened = performance.now();
    let useful = false;
    const timeoutSeconds = 300 + Math.floor(random() * 300);
    const open = { ...selection, resourceVersion: from, timeoutSeconds, inactivityMs };
    for await (const event of client.watch(kind, open, signal)) {
      useful = true;
      turn();
      backoff.reset();
      if (performance.now() - opened > quietMs) expiredInARow = 0;
      if (event.type === 'BOOKMARK') {
        state.resourceVersion = event.resourceVersion;
        continue;
      }
      emit(event.type === 'DELETED' ? known.remove(event.object) : known.put(event.object));
      state.resourceVersion = event.object.metadata.resourceVersion ?? state.resourceVersion;
    }
    if (performance.now() - opened > quietMs) {
      useful = true;
      backoff.reset();
      expiredInARow = 0;
    }
    return useful;
  };

  const failed = async (error: ArcError): Promise<void> => {
    turn();
    handler.onFailure?.(error);
    const gone = error.code === 'Expired' && state.resourceVersion !== undefined;
    wasCut = true;
    if (!transient(error)) state.resourceVersion = undefined;
    const atLeastMs = (error.details?.retryAfterSeconds ?? 0) * 1000;
    if (!gone) {
      await pause(backoff.next(atLeastMs), signal);
      return;
    }
    counters.gaps += 1;
    expiredInARow += 1;
    // The immediate list makes up for the lost history, unless it returns no version that can be watched from.
    if (expiredInARow === 1) relistBackoff.reset();
    else await pause(relistBackoff.next(atLeastMs), signal);
  };

  const whereToGoOn = async (): Promise<string> => {
    const { resourceVersion: known } = state;
    if (known !== undefined && wasCut) await checkHistory(known);
    wasCut = false;
    return known ?? list();
  };

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        state.resourceVersion = await whereToGoOn();
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

/** True for failures after which the watch resumes at the same resourceVersion; all others need a new list. */
function transient(error: ArcError): boolean {
  return ArcError.is(error, 'ServiceUnavailable', 'Timeout', 'TooManyRequests');
}

const wholeNumber = /^\d{1,40}$/;

/** Versions are increasing numbers (KEP-5504); other versions cannot be compared. */
function isEarlier(version: string, than: string): boolean {
  return wholeNumber.test(version) && wholeNumber.test(than) && BigInt(version) < BigInt(than);
}

/** Wraps an error of a handler: that is a programming error, and is not retried like a failure of the server. */
class HandlerFailure extends Error {}

function guarded(call: () => void): void {
  try {
    call();
  } catch (caught) {
    throw new HandlerFailure('a handler threw', { cause: caught });
  }
}
