import { bytesText } from '#shared/base/errors';

/** `n/m` as Argo prints it; undefined for anything else, and for a whole of nothing. */
export function parseProgress(text: string | undefined): { done: number; total: number } | undefined {
  const [, done, total] = /^(\d{1,15})\/(\d{1,15})$/.exec(text ?? '') ?? [];
  if (done === undefined || total === undefined || Number(total) === 0) return undefined;
  return { done: Math.min(Number(done), Number(total)), total: Number(total) };
}

/** The further of two readings: Argo's total grows while pods start, and what is shown never falls. */
export function furtherProgress(before: string | undefined, now: string | undefined): string | undefined {
  const old = parseProgress(before);
  const next = parseProgress(now);
  if (!next) return old && before;
  if (old && next.done / next.total < old.done / old.total) return before;
  return `${next.done}/${next.total}`;
}

/** From here on a whole is a number of bytes: templates that count steps have fewer. */
const fewestBytes = 1024;

/** True where progress towards `total` counts bytes, and not steps. */
export function countsBytes(total: number): boolean {
  return total >= fewestBytes;
}

/** Progress for people: `31% of 40 MiB`; as it is where steps are counted, and empty where there is none. */
export function progressText(progress: string | undefined): string {
  const parsed = parseProgress(progress);
  if (!parsed || !countsBytes(parsed.total)) return progress ?? '';
  const { done, total } = parsed;
  return `${Math.floor((100 * done) / total)}% of ${bytesText(total)}`;
}
