import { bytesText } from '#shared/base/errors';
import { countsBytes, parseProgress } from '#shared/domain';

/** How fast something moves, and how long it will take. */
export interface Pace {
  bytesPerSecond: number;
  secondsLeft: number;
}

interface Sample {
  atMs: number;
  done: number;
}

/** Argo reads the progress of a pod about once a minute: a pace needs two readings, however old the first is. */
const windowMs = 30_000;

/** Remembers the progress of several things. Times are of one steady clock of this machine. */
export function createPace() {
  const samples = new Map<string, Sample[]>();
  return {
    /** Takes a reading of `n/m`, and says what it makes of it and those before; undefined while nothing moves or the end is not known. */
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
  // It begins anew: another attempt, or another version.
  if (last && sample.done < last.done) return [sample];
  if (last && sample.done === last.done) return [...before];
  const recent = before.filter(({ atMs }) => sample.atMs - atMs <= windowMs);
  return [...(recent.length > 0 ? recent : before.slice(-1)), sample];
}

function paceOf(samples: readonly Sample[], left: number, atMs: number): Pace | undefined {
  const [first] = samples;
  const last = samples.at(-1);
  if (!first || !last || last === first || left === 0) return undefined;
  // What stands still since the last reading becomes slower with the time.
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

/** `45s`, `3m20s`, `2h5m`: what is left is an estimate, so two units are enough. */
export function secondsText(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds > 359_999) return 'long';
  const whole = Math.max(1, Math.ceil(seconds));
  if (whole < 60) return `${whole}s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes}m${whole % 60}s`;
  return `${Math.floor(minutes / 60)}h${minutes % 60}m`;
}
