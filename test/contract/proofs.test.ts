import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');

it('names only tests that exist, for every way in which a status was false', async () => {
  const table = await readFile(path.join(root, 'test/README.md'), 'utf8');
  const rows = [...table.matchAll(/^\| (\d+) \| .* \| `([^`]+)` \| (.+) \|$/gm)];
  const absent: string[] = [];
  for (const [, line, file = '', name = ''] of rows) {
    const text = await readFile(path.join(root, file), 'utf8');
    if (!text.includes(`'${name}'`) && !text.includes(`"${name}"`)) absent.push(`${line}: ${file}: ${name}`);
  }
  expect(absent).toEqual([]);
  const lines = new Set(rows.map(([, line]) => Number(line)));
  expect([...lines]).toEqual(Array.from({ length: 14 }, (_, index) => index + 1));
});
