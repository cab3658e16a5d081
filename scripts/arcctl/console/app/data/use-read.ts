import { useCallback, useEffect, useState } from 'react';
import { messageOf, RequestError, read } from './request.ts';

interface Answer<T> {
  value: T | undefined;
  /** Why the last attempt failed; empty: it did not. */
  problem: string;
  isLoading: boolean;
  reload(): void;
}

/** How soon a server that did not answer is asked again. */
const againMs = 3_000;

/** What the server answers at `path`, read again every `everyMs` and by `reload`; undefined reads nothing. */
export function useRead<T>(path: string | undefined, everyMs = 0): Answer<T> {
  const [answer, setAnswer] = useState<{ path?: string; value?: T; problem: string }>({ problem: '' });
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  // `round` asks for the same path once more.
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
