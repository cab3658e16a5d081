import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');

it.each([
  ['test/README.md', 'for every way in which a status was false', 14],
  ['test/e2e/README.md', 'for every behaviour in the life of an Order', 12],
  ['shared/transfer/README.md', 'for every feature that people compare tools by', 11],
])('%s names only tests that exist, %s', async (file, _, points) => {
  const table = await readFile(path.join(root, file), 'utf8');
  const rows = [...table.matchAll(/^\| (\d+) \| .* \| `([^`]+)` \| (.+) \|$/gm)];
  const absent: string[] = [];
  for (const [, line, where = '', name = ''] of rows) {
    const text = await readFile(path.join(root, where), 'utf8');
    if (!text.includes(`'${name}'`) && !text.includes(`"${name}"`)) absent.push(`${line}: ${where}: ${name}`);
  }
  expect(absent).toEqual([]);
  const lines = new Set(rows.map(([, line]) => Number(line)));
  expect([...lines]).toEqual(Array.from({ length: points }, (_none, index) => index + 1));
});
