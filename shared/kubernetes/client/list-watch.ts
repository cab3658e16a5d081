import { createBackoff, pause, steadyClock, yieldToEventLoop } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import type { Kind, KubeClient, Selection } from './client.ts';
import { type Change, createKnownObjects, type KnownObjects, type KnownStates } from './known-objects.ts';

/** What to watch, and the callbacks. They are called in order, one after the other; they must not throw. */
export interface ListWatchHandler<T extends KubeObject, K = T> extends Selection {
  onChange(change: Change<T, K>): void;
  /** A list is complete: `known` is the state of `resourceVersion`. `first` is true once. */
  onSync?(sync: { first: boolean; resourceVersion: string }): void;
  /** A list or watch failed; the loop tries again. For the log. */
  onFailure?(error: ArcError): void;
  /** The part of each object to keep, and to give as `before`; undefined keeps nothing of it. Default: the whole object. */
  keep?(object: T): K | undefined;
  /** Where those parts are kept; empty at first. Default: a Map. */
  states?: KnownStates<K>;
}

export interface ListWatchOptions {
  signal: AbortSignal;
  random?: () => number;
  /** A watch without any event, bookmarks included, for so long is opened again. Default 3 minutes. */
  inactivityMs?: number;
  /** Waits between attempts, in milliseconds. Default 200 up to 30 s. */
  backoff?: { baseMs: number; maxMs: number };
}

export interface ListWatchCounters {
  /** Lists after the first. */
  relists: number;
  /** Times the server no longer had the history: the changes in between were seen only as their sum. */
  gaps: number;
  /** Deletions found by comparing a list with what was known. */
  foundDeleted: number;
  /** Watches opened. */
  watches: number;
  /** Changes given to `onChange`. */
  changes: number;
}

export interface ListWatch<K> {
  /** Ends when the signal is aborted; rejects only if a handler throws. */
  readonly done: Promise<void>;
  /** True from the first complete list on. */
  readonly synced: boolean;
  /**
   * When the loop last made progress, in ms of `steadyClock`: the server answered, or a request failed. It stands still only when
   * the loop hangs, not when the server is away. For liveness checks.
   */
  readonly lastTurn: number;
  readonly counters: Readonly<ListWatchCounters>;
  readonly known: Pick<KnownObjects<KubeObject, K>, 'get' | 'values' | 'size'>;
}

const pageSize = 500;
/**
 * A page that is read takes about six times as much memory for a moment, and several kinds are listed at once. Objects may have more than a
 * megabyte, and then so many would fit neither in memory nor in a string.
 */
const pageBytes = 16 * 1024 * 1024;
const quietMs = 5_000;
/** Objects of a list that are compared in one turn of the event loop: there may be a million, and others wait meanwhile. */
const looksAtOnce = 50;

/**
 * Follows all objects of a kind until `signal` is aborted: lists, reports the difference from what was known (deletions
 * included), watches, resumes where the watch ended. Lists again only when the history is gone or the stream cannot be read.
 * Level-triggered: whatever was missed, the reported changes add up to the present state.
 */
export function listWatch<T extends KubeObject, K = T>(
  client: KubeClient,
  kind: Kind<T>,
  handler: ListWatchHandler<T, K>,
  options: ListWatchOptions,
): ListWatch<K> {
  const { signal, random = Math.random, inactivityMs = 180_000 } = options;
  // Without `keep`, K is T, by the default of the type parameter. The compiler cannot see that.
  const keep = handler.keep?.bind(handler) ?? ((object: T) => object as unknown as K);
  const known = createKnownObjects(kind, keep, handler.states);
  const counters: ListWatchCounters = { relists: 0, gaps: 0, foundDeleted: 0, watches: 0, changes: 0 };
  const backoff = createBackoff({ ...options.backoff, random });
  /** Of lists after lost history: a watch that brings something before it expires again is no reason to hurry. */
  const relistBackoff = createBackoff({ ...options.backoff, random });
  const state = {
    synced: false,
    lastTurn: steadyClock.now(),
    resourceVersion: undefined as string | undefined,
  };
  let expiredInARow = 0;
  /** A request has failed since the last watch was opened: the server may have been another one meanwhile. */
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
  /** One page. Of large objects it has fewer, and slowly more again. */
  const readPage = async (next: { continue?: string }) => {
    for (;;) {
      // One object is read whatever it takes, and all of them from a server that knows no pages.
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
    // Into nothing there is nothing to be deleted: what is seen is not noted, of what may be a million objects.
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
   * Rejects with Expired where the server is at an earlier version than `from`: a backup was restored. It would accept a watch from there, and
   * send nothing until its own versions have come so far.
   */
  const checkHistory = async (from: string): Promise<void> => {
    const { resourceVersion: current } = await client.list(kind, { ...selection, limit: 1 }, signal);
    turn();
    if (isEarlier(current, from))
      throw new ArcError('Expired', `the server is at resourceVersion ${current} and was at ${from} before`);
  };

  /** True when the watch brought an event or stayed open for a while. */
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
    // The list that follows at once makes up for lost history, unless it gives no version that can be watched from.
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

/** Failures after which the watch resumes at the same resourceVersion; all others need a new list. */
function transient(error: ArcError): boolean {
  return ArcError.is(error, 'ServiceUnavailable', 'Timeout', 'TooManyRequests');
}

const wholeNumber = /^\d{1,40}$/;

/** Versions are numbers that rise (KEP-5504); of others nothing is known. */
function isEarlier(version: string, than: string): boolean {
  return wholeNumber.test(version) && wholeNumber.test(than) && BigInt(version) < BigInt(than);
}

/** Wraps what a handler threw: that is a defect of the program, and is not retried like a failure of the server. */
class HandlerFailure extends Error {}

function guarded(call: () => void): void {
  try {
    call();
  } catch (caught) {
    throw new HandlerFailure('a handler threw', { cause: caught });
  }
}
