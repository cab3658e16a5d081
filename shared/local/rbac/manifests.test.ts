import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { loadManifests, parseManifests } from './manifests.ts';

let folder: string | undefined;
afterEach(async () => {
  if (folder) await rm(folder, { recursive: true });
  folder = undefined;
});

describe('loadManifests', () => {
  it('reads all documents below a folder but no kustomization', async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'manifests-'));
    await mkdir(path.join(folder, 'a/b'), { recursive: true });
    await writeFile(path.join(folder, 'kustomization.yaml'), 'kind: Kustomization');
    await writeFile(path.join(folder, 'notes.txt'), 'x');
    await writeFile(
      path.join(folder, 'a/one.yaml'),
      'apiVersion: v1\nkind: A\nmetadata: {name: a}\n---\n---\napiVersion: v1\nkind: B\nmetadata: {name: b}',
    );
    await writeFile(path.join(folder, 'a/b/two.yml'), 'apiVersion: v1\nkind: C\nmetadata: {name: c}');
    expect((await loadManifests(folder)).map((one) => one.kind).sort()).toEqual(['A', 'B', 'C']);
  });
});

describe('parseManifests', () => {
  it('names the file that is broken', () => {
    expect(() => parseManifests('a: [', 'role.yaml')).toThrow(/^role\.yaml: .*line 1/s);
    expect(() => parseManifests('a: 1', 'role.yaml')).toThrow(/role\.yaml: .*metadata\.name/);
  });
});
