import { useEffect, useState } from 'react';
import type { DryRun } from '../../api.ts';
import { messageOf, send } from '../data/request.ts';

/** Debounce after the last key press. */
const quietMs = 350;

/** Returns the dry run of a manifest, repeated on changes; an empty manifest sends nothing. */
export function useDryRun(manifest: string): {
  result: DryRun | undefined;
  problem: string;
  isAsking: boolean;
} {
  const [answer, setAnswer] = useState<{ of: string; result?: DryRun; problem: string }>({
    of: '',
    problem: '',
  });
  useEffect(() => {
    if (manifest === '') return;
    const ending = new AbortController();
    const ask = () =>
      send<DryRun>('/api/dry-run', { manifest }, ending.signal)
        .then((result) => setAnswer({ of: manifest, result, problem: '' }))
        .catch((caught: unknown) => {
          if (!ending.signal.aborted)
            setAnswer((before) => ({ ...before, of: manifest, problem: messageOf(caught) }));
        });
    const timer = setTimeout(() => void ask(), quietMs);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [manifest]);
  return {
    result: manifest === '' ? undefined : answer.result,
    problem: answer.problem,
    isAsking: manifest !== '' && answer.of !== manifest,
  };
}
