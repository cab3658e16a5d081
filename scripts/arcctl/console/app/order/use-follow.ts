import { useEffect, useState } from 'react';
import type { LogLine } from '../../api.ts';
import { type ReadLine, readLine } from './log-lines.ts';

/** Maximum number of lines that a page keeps. */
const mostLines = 20_000;

interface Followed {
  lines: readonly ReadLine[];
  state: 'Connecting' | 'Live' | 'Reconnecting' | 'Ended';
  problem: string;
}

/** Follows the live log of an Order. After a reconnect, the last lines are read again. */
export function useFollow(path: string): Followed {
  const [followed, setFollowed] = useState<Followed>({ lines: [], state: 'Connecting', problem: '' });
  useEffect(() => {
    let count = 0;
    const source = new EventSource(path);
    source.onopen = () => setFollowed({ lines: [], state: 'Live', problem: '' });
    source.onerror = () =>
      setFollowed((before) => ({
        ...before,
        state: source.readyState === EventSource.CLOSED ? 'Ended' : 'Reconnecting',
      }));
    source.addEventListener('lines', ({ data }) => {
      const some = (JSON.parse(data) as LogLine[]).map(({ artifact, text }) =>
        readLine(count++, artifact, text),
      );
      setFollowed((before) => ({ ...before, lines: [...before.lines, ...some].slice(-mostLines) }));
    });
    source.addEventListener('refused', ({ data }) => {
      source.close();
      setFollowed((before) => ({ ...before, state: 'Ended', problem: data }));
    });
    return () => source.close();
  }, [path]);
  return followed;
}
