import { pause } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import {
  type Change,
  type Kind,
  type KubeClient,
  listWatch,
  type Selection,
} from '#shared/kubernetes/client';

/** The current objects of one kind. */
export interface Followed<T> {
  values(): T[];
  /** True after the first complete list. */
  readonly synced: boolean;
}

/** Watches kinds of objects until it is disposed. */
export interface Follower extends AsyncDisposable {
  follow<T extends KubeObject>(
    kind: Kind<T>,
    selection: Selection,
    onChange?: (change: Change<T>) => void,
  ): Followed<T>;
  /**
   * Resolves with the next change, not before `leastMs` and not after `mostMs`. Resolves with false after Ctrl-C. Rejects with an error of the
   * API, or if the API was never reached; a lost connection is retried instead.
   */
  changed(leastMs: number, mostMs?: number): Promise<boolean>;
}

/** Timers are limited to about this length; one redundant frame per day is harmless. */
const aDayMs = 24 * 3600_000;

/** @param tell receives a message for people when the connection is lost for the first time */
export function createFollower(api: KubeClient, outer: AbortSignal, tell: (text: string) => void): Follower {
  const ending = new AbortController();
  const signal = AbortSignal.any([outer, ending.signal]);
  const loops: Promise<void>[] = [];
  let failure: ArcError | undefined;
  let news = new AbortController();
  let hasTold = false;
  const lost = (error: ArcError) => {
    if (!hasTold && !signal.aborted) tell(`${error.message}; retrying`);
    hasTold = true;
  };
  return {
    follow<T extends KubeObject>(
      kind: Kind<T>,
      selection: Selection,
      onChange?: (change: Change<T>) => void,
    ) {
      const loop = listWatch<T>(
        api,
        kind,
        {
          ...selection,
          onChange(change) {
            onChange?.(change);
            news.abort();
          },
          onSync: () => news.abort(),
          onFailure(error) {
            if (ArcError.is(error, 'TooManyRequests', 'Expired')) return;
            // An API that has never responded may have a wrong address: do not retry.
            if (ArcError.is(error, 'ServiceUnavailable', 'Timeout') && loop.synced) return lost(error);
            failure ??= error;
            ending.abort();
          },
        },
        { signal },
      );
      loops.push(loop.done);
      return {
        values: () => [...loop.known.values()],
        get synced() {
          return loop.synced;
        },
      };
    },
    async changed(leastMs, mostMs = aDayMs) {
      await pause(leastMs, signal);
      await pause(Math.max(0, mostMs - leastMs), [signal, news.signal]);
      if (failure) throw failure;
      news = new AbortController();
      return !signal.aborted;
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      await Promise.all(loops);
    },
  };
}
