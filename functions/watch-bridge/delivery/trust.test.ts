import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sinkAuthorities } from './trust.ts';

describe('sinkAuthorities', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'arc-trust-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('are the given ones and those of every bundle, in the layout of a kubelet', async () => {
    await mkdir(path.join(folder, '..2026'));
    await symlink('..2026', path.join(folder, '..data'));
    for (const name of ['b.pem', 'a.pem']) {
      await writeFile(path.join(folder, '..2026', name), `${name}\n`);
      await symlink(path.join('..data', name), path.join(folder, name));
    }
    expect(await sinkAuthorities('given\n', folder)()).toBe('given\na.pem\nb.pem');
  });

  it('are empty without bundles', async () => {
    expect(await sinkAuthorities(undefined, path.join(folder, 'absent'))()).toBe('');
  });

  it('are read again after a minute', async () => {
    let now = 0;
    const authorities = sinkAuthorities('', folder, () => now);
    expect(await authorities()).toBe('');
    await writeFile(path.join(folder, 'a.pem'), 'new');
    now = 59_999;
    expect(await authorities()).toBe('');
    now = 60_000;
    expect(await authorities()).toBe('new');
  });
});
