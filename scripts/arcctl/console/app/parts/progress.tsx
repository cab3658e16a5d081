import type { Counts } from '../../api.ts';
import { percentText } from '../data/format.ts';

/** A progress bar. */
export function Progress({ share, label }: { share: number; label: string }) {
  return (
    <span
      className="progress"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.floor(share * 100)}
    >
      <span style={{ width: percentText(share).replace('<', '') }} />
    </span>
  );
}

const parts = [
  ['succeeded', 'good'],
  ['running', 'busy'],
  ['failed', 'bad'],
  ['invalid', 'bad'],
  ['cancelled', 'quiet'],
] as const;

/** The artifacts of an Order by state, as segments of one bar. */
export function CountBar({ counts, isLarge = false }: { counts: Counts; isLarge?: boolean }) {
  const total = Math.max(1, counts.total);
  const text = [...parts.map(([name]) => name), 'pending' as const]
    .filter((name) => counts[name] > 0)
    .map((name) => `${counts[name]} ${name}`)
    .join(', ');
  return (
    <span
      className={`count-bar${isLarge ? ' large' : ''}`}
      role="img"
      aria-label={text || 'no artifacts'}
      title={text}
    >
      {parts.map(([name, tone]) =>
        counts[name] > 0 ? (
          <span key={name} className={`fill-${tone}`} style={{ flexGrow: counts[name] / total }} />
        ) : null,
      )}
      {counts.pending > 0 && <span style={{ flexGrow: counts.pending / total }} />}
    </span>
  );
}
