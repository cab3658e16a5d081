import { useCallback, useEffect, useState } from 'react';
import { messageOf, read } from './request.ts';

interface Answer<T> {
  value: T | undefined;
  /** Why the last attempt failed; empty: it did not. */
  problem: string;
  isLoading: boolean;
  reload(): void;
}

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
    read<T>(path, ending.signal)
      .then((value) => setAnswer({ path, value, problem: '' }))
      .catch((caught: unknown) => {
        if (ending.signal.aborted) return;
        setAnswer((before) => ({
          ...(before.path === path ? before : {}),
          path,
          problem: messageOf(caught),
        }));
      });
    return () => ending.abort();
  }, [path, round]);
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
