import { agoText, durationText, exactText, instantOf } from '../data/format.ts';
import { useNow } from '../data/use-now.ts';

/** A relative time; the exact time, in the viewer's time zone, is its title. */
export function Ago({ at }: { at: string }) {
  const nowMs = useNow();
  const atMs = instantOf(at);
  if (atMs === undefined) return <span className="quiet">–</span>;
  return (
    <time dateTime={at} title={exactText(atMs)}>
      {agoText(atMs, nowMs)}
    </time>
  );
}

/** The duration between two times, or until now. */
export function Duration({ from, to }: { from: string; to?: string }) {
  const nowMs = useNow();
  const begin = instantOf(from);
  if (begin === undefined) return <span className="quiet">–</span>;
  return <span className="figures">{durationText((instantOf(to ?? '') ?? nowMs) - begin)}</span>;
}
