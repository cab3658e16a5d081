/** Returns the known word that a mistyped one most likely stands for; undefined where none is near. Compared without regard to case. */
export function closest(word: string, known: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase().slice(0, longest);
  // A third of the letters may be wrong, one letter of a short word.
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

/** Longer words are compared by their beginning: the work grows with the square of the length. */
const longest = 100;

/** Letters to insert, remove, replace or swap with their neighbour (optimal string alignment). */
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
