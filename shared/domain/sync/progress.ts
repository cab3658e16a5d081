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
