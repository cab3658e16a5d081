import { bytesText } from '#shared/base/errors';

/** Parses Argo's `n/m`; undefined for any other text and for a total of 0. */
export function parseProgress(text: string | undefined): { done: number; total: number } | undefined {
  const [, done, total] = /^(\d{1,15})\/(\d{1,15})$/.exec(text ?? '') ?? [];
  if (done === undefined || total === undefined || Number(total) === 0) return undefined;
  return { done: Math.min(Number(done), Number(total)), total: Number(total) };
}

/** Returns the later of two readings: Argo's total grows while pods start, and shown progress never decreases. */
export function furtherProgress(before: string | undefined, now: string | undefined): string | undefined {
  const old = parseProgress(before);
  const next = parseProgress(now);
  if (!next) return old && before;
  if (old && next.done / next.total < old.done / old.total) return before;
  return `${next.done}/${next.total}`;
}

/** A larger total counts bytes: templates that count steps have fewer. */
const fewestBytes = 1024;

/** True if progress towards `total` counts bytes rather than steps. */
export function countsBytes(total: number): boolean {
  return total >= fewestBytes;
}

/** Formats progress for people: `31% of 40 MiB`; counted steps are unchanged, and no progress is empty. */
export function progressText(progress: string | undefined): string {
  const parsed = parseProgress(progress);
  if (!parsed || !countsBytes(parsed.total)) return progress ?? '';
  const { done, total } = parsed;
  return `${Math.floor((100 * done) / total)}% of ${bytesText(total)}`;
}
