import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { checkSecurityTable } from './security-table.ts';

const head = ['# Security', '', '| who | may | may not | held by |', '| --- | --- | --- | --- |'];

/** What the check finds in a SECURITY.md with a row for each `held by`. */
async function checked(...heldBy: string[]): Promise<string[]> {
  const root = await mkdtemp(path.join(tmpdir(), 'arc-security-'));
  onTestFinished(() => rm(root, { recursive: true }));
  const rows = heldBy.map((cell) => `| somebody | read | write | ${cell} |`);
  await writeFile(path.join(root, 'SECURITY.md'), [...head, ...rows, '', '| another | table |'].join('\n'));
  const source = `it('is held', () => {});\nit.each(['no name'])(\n  "isn't %s",\n  () => {},\n);`;
  await writeFile(path.join(root, 'a.test.ts'), source);
  return checkSecurityTable(root);
}

it('accepts rows whose files and tests exist', async () => {
  expect(await checked('`a.test.ts`', "`a.test.ts`: is held<br>`a.test.ts`: isn't %s")).toEqual([]);
});

it.each([
  ['', 'names no test'],
  ['`a.ts`', 'names no test'],
  ['see `a.test.ts`', 'names no test'],
  ['`b.test.ts`: is held', 'names b.test.ts, which does not exist'],
  ['`a.test.ts`: held', 'names the test "held", which a.test.ts does not have'],
  ['`a.test.ts`: no name', 'names the test "no name", which a.test.ts does not have'],
])('reports a row that is held by %j', async (cell, problem) => {
  expect(await checked('`a.test.ts`', cell)).toEqual([
    expect.stringMatching(new RegExp(`^SECURITY.md, row "somebody: write" ${problem}`)),
  ]);
});
