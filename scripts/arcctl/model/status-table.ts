/** One row of the table in docs/status.md: a phase, reason or condition, its meaning and remedy. */
export interface Explanation {
  /** The category, such as `Order phase` or `artifact waits`. */
  what: string;
  name: string;
  meaning: string;
  help: string;
}

/** Parses the table; a row with several names yields one entry for each. test/contract/status-table.test.ts compares the table with the code. */
export function parseStatusTable(page: string): Explanation[] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2)
    .flatMap((line) => {
      const [, what = '', names = '', meaning = '', help = ''] = line.split('|').map((cell) => cell.trim());
      return names.split(', ').map((name) => ({ what, name, meaning, help }));
    });
}

/** Returns the entries with a name or category (`artifact waits`), case-insensitively. */
export function explanationsOf(all: readonly Explanation[], word: string): Explanation[] {
  const wanted = word.toLowerCase();
  const found = all.filter(({ name }) => name.toLowerCase() === wanted);
  return found.length > 0 ? found : all.filter(({ what }) => what.toLowerCase() === wanted);
}

/** Returns names that contain the beginning of the word, because typos are more frequent at the end. */
export function similarNames(all: readonly Explanation[], word: string): string[] {
  const part = word.toLowerCase().slice(0, Math.max(4, Math.ceil(word.length * 0.6)));
  return [...new Set(all.map(({ name }) => name))].filter((name) => name.toLowerCase().includes(part));
}
