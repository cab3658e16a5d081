/** Returns the known word that is most similar to a mistyped one, case-insensitively; undefined if none is similar. */
export function closest(word: string, known: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase().slice(0, longest);
  // A third of the letters may differ, one letter of a short word.
  let most = Math.max(1, Math.floor(wanted.length / 3));
  let found: string | undefined;
  for (const each of known) {
    const steps = distance(wanted, each.toLowerCase().slice(0, longest));
    if (steps > most || (steps === most && found !== undefined)) continue;
    most = steps;
    found = each;
  }
  return found;
}

/** Compares only the beginning of long words: the cost is quadratic in the length. */
const longest = 100;

/** Returns the number of insertions, deletions, replacements and swaps of adjacent letters (optimal string alignment). */
function distance(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
