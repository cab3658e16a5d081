import { bytesText } from '#shared/base/errors';
import { countsBytes, parseProgress } from '#shared/domain';
import type { Pace } from './order-progress.ts';

interface Sample {
  atMs: number;
  done: number;
}

/** Argo reads the progress of a pod about once a minute: a pace needs two samples, regardless of their age. */
const windowMs = 30_000;

/** Keeps progress samples per key. Times are from a monotonic clock. */
export function createPace() {
  const samples = new Map<string, Sample[]>();
  return {
    /** Adds a sample of `n/m` and returns the pace; undefined while nothing moves or the total is unknown. */
    note(key: string, progress: string | undefined, atMs: number): Pace | undefined {
      const known = parseProgress(progress);
      if (!known) {
        samples.delete(key);
        return undefined;
      }
      const before = samples.get(key) ?? [];
      const kept = nextSamples(before, { atMs, done: known.done });
      samples.set(key, kept);
      return paceOf(kept, known.total - known.done, atMs);
    },
  };
}

function nextSamples(before: readonly Sample[], sample: Sample): Sample[] {
  const last = before.at(-1);
  // Decreasing progress: another attempt, or another version.
  if (last && sample.done < last.done) return [sample];
  if (last && sample.done === last.done) return [...before];
  const recent = before.filter(({ atMs }) => sample.atMs - atMs <= windowMs);
  return [...(recent.length > 0 ? recent : before.slice(-1)), sample];
}

function paceOf(samples: readonly Sample[], left: number, atMs: number): Pace | undefined {
  const [first] = samples;
  const last = samples.at(-1);
  if (!first || !last || last === first || left === 0) return undefined;
  // A stalled transfer slows down over time.
  const seconds = (Math.max(last.atMs, atMs - (last.atMs - first.atMs)) - first.atMs) / 1000;
  if (seconds <= 0) return undefined;
  const bytesPerSecond = (last.done - first.done) / seconds;
  return { bytesPerSecond, secondsLeft: left / bytesPerSecond };
}

/** Formats a pace as `10 MiB/s, 45s left`; without the rate where `progress` counts steps instead of bytes. */
export function paceText({ bytesPerSecond, secondsLeft }: Pace, progress: string): string {
  const left = `${secondsText(secondsLeft)} left`;
  const { total } = parseProgress(progress) ?? { total: 0 };
  return countsBytes(total) ? `${bytesText(bytesPerSecond)}/s, ${left}` : left;
}

/** Formats `45s`, `3m20s`, `2h5m`: the remaining time is an estimate, so two units suffice. */
export function secondsText(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds > 359_999) return 'long';
  const whole = Math.max(1, Math.ceil(seconds));
  if (whole < 60) return `${whole}s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes}m${whole % 60}s`;
  return `${Math.floor(minutes / 60)}h${minutes % 60}m`;
}
