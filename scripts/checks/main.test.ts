import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { checkTree } from './main.ts';

it('finds nothing wrong with this tree', async () => {
  expect(await checkTree(new URL('../..', import.meta.url).pathname)).toEqual([]);
});

it('reports what every check finds in a bad tree', async () => {
  const root = await mkdtemp(path.join(tmpdir(), 'arc-checks-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const write = async (file: string, source: string) => {
    await mkdir(path.join(root, path.dirname(file)), { recursive: true });
    await writeFile(path.join(root, file), source);
  };
  await write('shared/domain/a.ts', `import { b } from './b.ts';\nimport '#shared/kubernetes/client';\n`);
  await write('shared/domain/b.ts', `export type { A } from './a.ts';\nawait import('./testing/c.ts');\n`);
  await write('shared/domain/testing/c.ts', '');
  for (let file = 0; file < 21; file += 1) await write(`functions/many/file-${file}.ts`, '');

  expect(await checkTree(root)).toEqual([
    expect.stringContaining(
      'shared/domain/a.ts imports #shared/kubernetes/client: shared/domain may import only',
    ),
    expect.stringContaining('functions/many has 21 source files'),
    expect.stringContaining('shared/domain/a.ts and shared/domain/b.ts form an import cycle'),
    expect.stringContaining('shared/domain/b.ts imports ./testing/c.ts: only tests'),
  ]);
});
