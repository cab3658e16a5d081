import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const server = 'shared/kubernetes/apiserver/';

/** The files of the table "Life of a request" by stage, relative to the API server. */
async function described(): Promise<string[]> {
  const text = await readFile(path.join(root, 'docs/architecture.md'), 'utf8');
  const section = text.split('## Life of a request')[1]?.split('\n## ')[0] ?? '';
  const rows = section.split('\n').filter((line) => /^\| \*\*/.test(line));
  return rows.flatMap((row) =>
    [...(row.split('|')[3] ?? '').matchAll(/`([\w/-]+\.ts)`/g)].map(([, file = '']) => file),
  );
}

/** The files of the API server that a status write and a GET really run. */
async function measured(): Promise<string[]> {
  const bench = [path.join(root, 'test/bench/main.ts'), 'api', '--stays', '--files'];
  const { stdout } = await promisify(execFile)(process.execPath, bench, { cwd: root, timeout: 120_000 });
  const lines = stdout.trim().split('\n');
  const cases = lines.map((line) => JSON.parse(line) as { case: string; paths: string[] });
  const paths = cases
    .filter((one) => one.case === 'stays status' || one.case === 'stays get')
    .flatMap((one) => one.paths);
  return paths.filter((file) => file.startsWith(server)).map((file) => file.slice(server.length));
}

it('docs/architecture.md names every file of the API server that a status write and a GET run, and no other', async () => {
  const files = await described();
  expect(files).toEqual([...new Set(files)]);
  expect(files.toSorted()).toEqual([...new Set(await measured())].sort());
}, 120_000);
