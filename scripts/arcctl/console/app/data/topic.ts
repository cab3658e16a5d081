import { useEffect, useState } from 'react';
import type { Beat, Change, Problem, Row } from '../../api.ts';
import { noteConnection } from './connection.ts';
import { checkSession } from './request.ts';

/** The current data of one topic. */
export interface Topic {
  /** False until the first event. */
  isReady: boolean;
  values: Readonly<Record<string, unknown>>;
  lists: Readonly<Record<string, readonly Row[]>>;
  /** Why there is no data. */
  problem: Problem | undefined;
}

const nothing: Topic = { isReady: false, values: {}, lists: {}, problem: undefined };

/** Three missed heartbeats: the connection is considered lost even if the browser has not noticed. */
const silenceMs = 16_000;
const [firstRetryMs, lastRetryMs] = [500, 5_000];
/** A hidden page would occupy one of the six connections that a browser allows per server. */
const hiddenMs = 30_000;

/** Follows a topic while the component is mounted. */
export function useTopic(path: string): Topic {
  const [state, setState] = useState<{ path: string; topic: Topic }>({ path, topic: nothing });
  useEffect(
    () =>
      follow(path, (change) =>
        setState((before) => ({ path, topic: change(before.path === path ? before.topic : nothing) })),
      ),
    [path],
  );
  return state.path === path ? state.topic : nothing;
}

/** Returns the rows of a list. */
export function rowsOf<T extends Row>(topic: Topic, list: string): readonly T[] {
  return (topic.lists[list] ?? none) as readonly T[];
}

const none: readonly Row[] = [];

export function valueIn<T>(topic: Topic, name: string): T | undefined {
  return topic.values[name] as T | undefined;
}

function follow(path: string, update: (change: (before: Topic) => Topic) => void): () => void {
  let source: EventSource | undefined;
  let retryMs = firstRetryMs;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let watchdog: ReturnType<typeof setTimeout> | undefined;
  let hiding: ReturnType<typeof setTimeout> | undefined;

  const close = () => {
    source?.close();
    source = undefined;
    clearTimeout(retry);
    clearTimeout(watchdog);
  };
  const reopen = (problem: string) => {
    close();
    noteConnection('reconnecting', problem);
    retry = setTimeout(open, retryMs);
    retryMs = Math.min(retryMs * 2, lastRetryMs);
  };
  const heard = () => {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => reopen('the server is silent'), silenceMs);
  };
  const on = <T>(name: string, handle: (data: T) => void) =>
    source?.addEventListener(name, (event) => {
      heard();
      retryMs = firstRetryMs;
      handle(JSON.parse((event as MessageEvent<string>).data) as T);
    });
  const open = () => {
    close();
    source = new EventSource(`/api/live/${path}`);
    heard();
    on<Beat>('beat', ({ problem, refused = '' }) =>
      problem ? noteConnection('stale', problem) : noteConnection('live', refused),
    );
    on<Change>('change', (change) => update((before) => applied(before, change)));
    on<Problem>('problem', (problem) => update((before) => ({ ...before, problem })));
    source.onerror = () => {
      reopen('the server of this page does not respond');
      // An EventSource does not expose the status of a rejected request.
      checkSession();
    };
  };
  const onVisibility = () => {
    clearTimeout(hiding);
    if (document.visibilityState === 'hidden') hiding = setTimeout(close, hiddenMs);
    else if (!source) open();
  };
  document.addEventListener('visibilitychange', onVisibility);
  open();
  return () => {
    close();
    clearTimeout(hiding);
    document.removeEventListener('visibilitychange', onVisibility);
  };
}

/** Applies a change to a topic. Unchanged rows keep their identity, so that only changed ones are rendered. */
export function applied(before: Topic, { isWhole, values, lists }: Change): Topic {
  const base = isWhole ? nothing : before;
  const next = { ...base.lists };
  for (const [name, { set, gone }] of Object.entries(lists)) {
    const changed = new Map(set.map((row) => [row.id, row]));
    const removed = new Set(gone);
    const kept = (base.lists[name] ?? []).flatMap((row) => {
      if (removed.has(row.id)) return [];
      const fresh = changed.get(row.id);
      changed.delete(row.id);
      return [fresh ?? row];
    });
    next[name] = [...kept, ...changed.values()];
  }
  return { isReady: true, values: { ...base.values, ...values }, lists: next, problem: undefined };
}
