import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { backUpState, restoreState } from './backup.ts';
import { openState } from './open-state.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'arc-keep-'));
});
afterAll(() => rm(folder, { recursive: true }));

it('saves the state of a standalone that has ended, and replaces it again', async () => {
  const file = path.join(folder, 'a.backup.gz');
  const store = await openState(folder);
  await store.create('/registry/core/secrets/a', Buffer.from('{}'));
  await expect(backUpState(folder, file)).rejects.toMatchObject({ code: 'Conflict' });
  await store.close();
  expect(await backUpState(folder, file)).toContain(file);

  const later = await openState(folder);
  await later.create('/registry/core/secrets/b', Buffer.from('{}'));
  await later.close();
  expect(await restoreState(folder, file)).toMatch(/^Restored 1 objects .* is in .*replaced-/);
  const restored = await openState(folder);
  expect((await restored.list('/registry/')).items.map(({ key }) => key)).toEqual([
    '/registry/core/secrets/a',
  ]);
  await restored.close();
});

it('refuses what is not a backup, and changes nothing', async () => {
  const file = path.join(folder, 'other');
  await writeFile(file, 'other');
  await expect(restoreState(folder, file)).rejects.toThrow('incorrect header check');
  await expect(restoreState(folder, path.join(folder, 'absent'))).rejects.toThrow('ENOENT');
});
