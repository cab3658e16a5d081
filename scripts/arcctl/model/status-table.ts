/** One row of the table in docs/status.md: a phase, a reason or a condition, what it means and what to do. */
export interface Explanation {
  /** Of what it is one, such as `Order phase` or `artifact waits`. */
  what: string;
  name: string;
  meaning: string;
  help: string;
}

/** Reads the table; a row of several names is one for each. test/contract/status-table.test.ts holds the table to the code. */
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

/** Those of a name, or of what they are (`artifact waits`); compared without regard to case. */
export function explanationsOf(all: readonly Explanation[], word: string): Explanation[] {
  const wanted = word.toLowerCase();
  const found = all.filter(({ name }) => name.toLowerCase() === wanted);
  return found.length > 0 ? found : all.filter(({ what }) => what.toLowerCase() === wanted);
}

/** Names that hold the first part of the word: the end is where people mistype. */
export function similarNames(all: readonly Explanation[], word: string): string[] {
  const part = word.toLowerCase().slice(0, Math.max(4, Math.ceil(word.length * 0.6)));
  return [...new Set(all.map(({ name }) => name))].filter((name) => name.toLowerCase().includes(part));
}
