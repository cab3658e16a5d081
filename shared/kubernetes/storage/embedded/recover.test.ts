import { truncateSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from './disk.ts';
import { area, revisionKeyOf } from './layout.ts';
import { openEmbeddedStore } from './open-embedded.ts';
import { recoverEmbeddedStore } from './recover.ts';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'arc-recover-'));
  const store = await openEmbeddedStore({ folder });
  for (const name of ['a', 'b', 'c']) await store.create(`/${name}`, Buffer.from(name));
  await store.delete('/b', 3);
  await store.close();
});

afterEach(() => rm(folder, { recursive: true }));

/** Changes a byte of the value that a revision wrote. */
async function damageValue(revision: number): Promise<void> {
  const database = await openDatabase(folder);
  const at = revisionKeyOf(area.values, revision);
  const stored = Buffer.from(database.get(at) ?? []);
  stored.writeUInt8((stored.at(-1) ?? 0) ^ 1, stored.length - 1);
  database.putSync(at, stored);
  await database.close();
}

async function keysThere(): Promise<string[]> {
  const store = await openEmbeddedStore({ folder });
  const { items } = await store.list('/');
  await store.close();
  return items.map(({ key, value }) => `${key}=${Buffer.from(value)}`);
}

describe('recoverEmbeddedStore', () => {
  it('does nothing to a store that is not damaged', async () => {
    const before = await readdir(folder);
    expect(await recoverEmbeddedStore({ folder })).toBeUndefined();
    expect(await readdir(folder)).toEqual(before);
  });

  it('recovers readable items, names lost ones, and keeps the damaged files', async () => {
    await damageValue(2);
    await expect(openEmbeddedStore({ folder })).rejects.toThrow(
      /is damaged: the value of \/a cannot be read\. 1 of its objects can be read, at least 1 cannot \(\/a\)\. Restore/,
    );
    const recovery = await recoverEmbeddedStore({ folder });
    expect(recovery).toMatchObject({ damage: 'the value of /a cannot be read', saved: 1, lost: ['/a'] });
    expect((await readdir(recovery?.aside ?? '')).sort()).toEqual(['data.mdb', 'sentinel']);
    expect(await keysThere()).toEqual(['/c=c']);
  });

  it('has no client wait for a revision that it saw before the damage', async () => {
    truncateSync(join(folder, 'data.mdb'), 0);
    await recoverEmbeddedStore({ folder });
    const store = await openEmbeddedStore({ folder });
    expect(await store.revision()).toBeGreaterThan(5);
    await expect(store.list('/', { revision: 5 })).rejects.toMatchObject({ code: 'Expired' });
    await store.close();
  });

  it('restarts after a killed recovery', async () => {
    await damageValue(2);
    writeFileSync(join(folder, 'sentinel.partial'), 'x');
    const partial = await openDatabase(join(folder, 'recovered.partial'));
    await partial.close();
    await recoverEmbeddedStore({ folder });
    expect(await keysThere()).toEqual(['/c=c']);
    expect(await readdir(folder)).not.toContain('recovered.partial');
  });

  it('refuses a folder that is in use', async () => {
    const store = await openEmbeddedStore({ folder });
    await expect(recoverEmbeddedStore({ folder })).rejects.toMatchObject({ code: 'Conflict' });
    await store.close();
  });
});
