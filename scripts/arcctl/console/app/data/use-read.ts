import { useCallback, useEffect, useState } from 'react';
import { messageOf, RequestError, read } from './request.ts';

interface Answer<T> {
  value: T | undefined;
  /** The error of the last attempt; empty: it succeeded. */
  problem: string;
  isLoading: boolean;
  reload(): void;
}

/** Retry delay after a failed request. */
const againMs = 3_000;

/** Returns the response at `path`, refreshed every `everyMs` and by `reload`; undefined reads nothing. */
export function useRead<T>(path: string | undefined, everyMs = 0): Answer<T> {
  const [answer, setAnswer] = useState<{ path?: string; value?: T; problem: string }>({ problem: '' });
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  // `round` repeats the request for the same path.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    if (path === undefined) return;
    const ending = new AbortController();
    let retry: ReturnType<typeof setTimeout> | undefined;
    read<T>(path, ending.signal)
      .then((value) => setAnswer({ path, value, problem: '' }))
      .catch((caught: unknown) => {
        if (ending.signal.aborted) return;
        setAnswer((before) => ({
          ...(before.path === path ? before : {}),
          path,
          problem: messageOf(caught),
        }));
        const isAway = caught instanceof RequestError && caught.code === 'Unreachable';
        if (isAway) retry = setTimeout(reload, againMs);
      });
    return () => {
      clearTimeout(retry);
      ending.abort();
    };
  }, [path, round, reload]);
  useEffect(() => {
    if (everyMs === 0 || path === undefined) return;
    const timer = setInterval(() => document.visibilityState === 'visible' && reload(), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, path, reload]);
  const isOfPath = answer.path === path;
  const value = isOfPath ? answer.value : undefined;
  return {
    value,
    problem: isOfPath ? answer.problem : '',
    isLoading: value === undefined && !(isOfPath && answer.problem !== ''),
    reload,
  };
}
