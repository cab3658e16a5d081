import { readFile } from 'node:fs/promises';
import path from 'node:path';

const page = 'SECURITY.md';
/** The heading of the column that names tests. */
const column = 'held by';
/** `path/of/a.test.ts`, and after a colon the name of one of its tests. */
const holder = /^`([^`]+\.test\.ts)`(?:: (.+))?$/;

/**
 * Checks that each row of the table in SECURITY.md names tests that exist: files in backticks, each with a name of a test after a colon, with
 * `<br>` between them. @returns one line per problem.
 */
export async function checkSecurityTable(root: string): Promise<string[]> {
  const text = await readIfThere(path.join(root, page));
  if (text === undefined) return [];
  const lines = text.split('\n');
  const start = lines.findIndex((line) => cellsOf(line).at(-1) === column);
  if (start < 0) return [`${page} has no table with a column "${column}"`];
  const length = lines.slice(start).findIndex((line) => !line.startsWith('|'));
  const rows = lines.slice(start + 2, length < 0 ? undefined : start + length);
  return (await Promise.all(rows.map((row) => problemsOf(root, cellsOf(row))))).flat();
}

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

async function problemsOf(root: string, cells: readonly string[]): Promise<string[]> {
  const where = `${page}, row "${cells[0]}: ${cells[2]}"`;
  const problems: string[] = [];
  for (const entry of (cells.at(-1) ?? '').split('<br>')) {
    const [, file, name] = holder.exec(entry) ?? [];
    if (file === undefined) {
      problems.push(
        `${where} names no test: write \`path.test.ts\`: name, with <br> between two, not "${entry}"`,
      );
      continue;
    }
    const source = await readIfThere(path.join(root, file));
    if (source === undefined) problems.push(`${where} names ${file}, which does not exist`);
    else if (name !== undefined && !hasTest(source, name))
      problems.push(`${where} names the test "${name}", which ${file} does not have`);
  }
  return problems;
}

/** True if a call in `source` has `name` as its first argument. */
function hasTest(source: string, name: string): boolean {
  return ["'", '"', '`'].some((quote) => {
    const literal = `${quote}${name}${quote}`;
    for (let at = source.indexOf(literal); at >= 0; at = source.indexOf(literal, at + 1))
      if (source.slice(0, at).trimEnd().endsWith('(')) return true;
    return false;
  });
}

function readIfThere(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(() => undefined);
}
