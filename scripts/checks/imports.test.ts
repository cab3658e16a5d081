import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { everywhere, pictureOfRooms, roomOf, rooms, violationOf } from './imports.ts';
import { isProduction, readTree } from './source-tree.ts';

const root = path.resolve(import.meta.dirname, '../..');

describe('the import rule', () => {
  it.each([
    ['functions/a/index.ts', '#shared/domain'],
    ['functions/a/index.ts', './logic.ts'],
    ['functions/a/index.ts', 'hono'],
    ['scripts/start.ts', '../functions/a/index.ts'],
    ['shared/local/broker/x.ts', '#shared/kubernetes/apiserver'],
    ['shared/kubernetes/apiserver/a.ts', './representation/index.ts'],
    ['shared/domain/x.ts', '#shared/base/errors'],
    ['examples/a/x.ts', '#shared/kubernetes/apiserver'],
  ])('lets %s import %s', (file, target) => {
    expect(violationOf(file, target)).toBeUndefined();
  });

  it.each([
    ['functions/a/index.ts', '../b/index.ts', 'each other'],
    ['functions/a/index.ts', '../../scripts/start.ts', 'scripts'],
    ['functions/a/index.ts', '../../shared/domain/plan/plan.ts', 'entry point'],
    ['shared/domain/x.ts', '#shared/kubernetes/client', 'may import only'],
    ['shared/kubernetes/storage/x.ts', '#shared/kubernetes/apiserver', 'may import only'],
    ['shared/kubernetes/client/x.ts', '../../../functions/a/index.ts', 'bottom'],
    ['functions/a/index.ts', '../../test/fixtures/x.ts', 'test/'],
    ['examples/a/x.ts', '../../functions/b/index.ts', 'entry points of shared'],
  ])('refuses that %s imports %s', (file, target, why) => {
    expect(violationOf(file, target)).toContain(why);
  });
});

describe('the rooms of shared', () => {
  it('import only rooms that the list has above them', () => {
    const names = Object.keys(rooms);
    for (const [index, name] of names.entries())
      for (const imported of rooms[name] ?? []) expect(names.slice(0, index)).toContain(imported);
  });

  it('import all that the list lets them import', async () => {
    const imported = new Map(Object.keys(rooms).map((name) => [name, new Set<string>()]));
    for (const { file, imports } of (await readTree(root)).filter((source) => isProduction(source.file)))
      for (const target of imports)
        if (target.startsWith('#shared/'))
          imported.get(roomOf(file) ?? '')?.add(target.slice('#shared/'.length));
    const beyond = (names: Iterable<string>) =>
      [...names].filter((name) => !everywhere.includes(name)).sort();
    for (const [name, found] of imported)
      expect({ name, imports: beyond(found) }).toEqual({ name, imports: beyond(rooms[name] ?? []) });
  });

  it('are those of the picture in docs/architecture.md', async () => {
    expect(await readFile(path.join(root, 'docs/architecture.md'), 'utf8')).toContain(pictureOfRooms());
  });
});
