/** True if a pattern of `*`, `?` and literal characters matches all of `text`. Takes time proportional to the product of both lengths. */
export function matchesGlob(pattern: string, text: string): boolean {
  let [at, star, resume] = [0, -1, 0];
  for (let position = 0; position < text.length; ) {
    if (pattern[at] === '*') {
      [star, resume] = [at, position];
      at += 1;
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === text[position])) {
      at += 1;
      position += 1;
    } else if (star !== -1) {
      // Backtrack: the last star matches one more character.
      resume += 1;
      [at, position] = [star + 1, resume];
    } else return false;
  }
  return /^\**$/.test(pattern.slice(at));
}
