import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WriteResult } from '../interface/store.ts';
import { createDisk, openDatabase } from './disk.ts';
import { metaKey } from './layout.ts';
import { openEmbeddedStore } from './open-embedded.ts';
import { encodeText } from './record.ts';

const value = new Uint8Array([1]);
const noSentinel = { id: '', note: () => undefined, close: () => undefined };
let root = '';
let folder = '';

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'arc-open-'));
  folder = join(root, 'deep', 'store.d');
});

afterEach(() => rm(root, { recursive: true }));

function written(result: WriteResult): { revision: number } {
  return result.ok ? result : expect.fail('the write was refused');
}

describe('openEmbeddedStore', () => {
  it('makes its folder for its user alone', async () => {
    const store = await openEmbeddedStore({ folder });
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    await store.close();
  });

  it('refuses a folder that is open already, and leaves the first store at work', async () => {
    const first = await openEmbeddedStore({ folder });
    await first.create('/a', value);
    const second = openEmbeddedStore({ folder });
    await expect(second).rejects.toMatchObject({ code: 'Conflict' });
    await expect(second).rejects.toThrow(/in use by this process already: stop it first/);
    expect(await first.create('/b', value)).toEqual({ ok: true, revision: 3 });
    await first.close();
    const third = await openEmbeddedStore({ folder });
    expect((await third.list('/')).items.map(({ key }) => key)).toEqual(['/a', '/b']);
    await third.close();
  });

  it('can be closed twice', async () => {
    const store = await openEmbeddedStore({ folder });
    await Promise.all([store.close(), store.close()]);
  });

  it('keeps no more history than its options say, on disk too', async () => {
    const options = { folder, historyLimit: 3 };
    const store = await openEmbeddedStore(options);
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await store.create(`/${name}`, value);
    await expect(store.list('/', { revision: 3 })).rejects.toMatchObject({ code: 'Expired' });
    expect((await store.list('/', { revision: 4 })).items).toHaveLength(3);
    await store.close();
    const database = await openDatabase(folder);
    const { history, revision } = createDisk(database, noSentinel).load();
    await database.close();
    expect(revision).toBe(7);
    // Events that the last write pushed out are removed with the next one.
    expect(history.map((record) => record.revision)).toEqual([4, 5, 6, 7]);
    const again = await openEmbeddedStore(options);
    await expect(again.list('/', { revision: 3 })).rejects.toMatchObject({ code: 'Expired' });
    await again.close();
  });

  it('stores one value per item and per referenced value of the history', async () => {
    const options = { folder, historyLimit: 3, recentBytes: 0 };
    const store = await openEmbeddedStore(options);
    let { revision } = written(await store.create('/a', value));
    for (let count = 0; count < 8; count += 1)
      revision = written(await store.update('/a', new Uint8Array([count]), revision)).revision;
    const before = await store.list('/', { revision: revision - 3 });
    expect(before.items.map((item) => [...item.value])).toEqual([[4]]);
    await store.delete('/a', revision);
    const other = written(await store.create('/b', value)).revision;
    await store.close();
    const database = await openDatabase(folder);
    const values = database.getKeys({ start: Buffer.of(4) }).map((key) => Number(key.readBigUInt64BE(1)));
    // The events that the last write left are of the last four; the first of them replaced what stood three before it.
    expect([...values]).toEqual([revision - 2, revision - 1, revision, other]);
    await database.close();
  });

  it('refuses data of a format it does not know', async () => {
    await (await openEmbeddedStore({ folder })).close();
    const database = await openDatabase(folder);
    await database.put(metaKey('format'), encodeText('99'));
    await database.close();
    await expect(openEmbeddedStore({ folder })).rejects.toThrow(/format 99, this version reads format 3/);
  });

  it('names the damaged part, and can be opened again once it is repaired', async () => {
    const store = await openEmbeddedStore({ folder });
    await store.create('/a', value);
    await store.close();
    const itemKey = Buffer.concat([Buffer.of(3), Buffer.from('/a')]);
    const database = await openDatabase(folder);
    const sound = Buffer.from(database.get(itemKey) ?? []);
    await database.put(itemKey, Buffer.from('bad'));
    await database.close();
    await expect(openEmbeddedStore({ folder })).rejects.toThrow(
      /damaged: the value of \/a cannot be read\. 1 of its objects can be read/,
    );
    const repaired = await openDatabase(folder);
    await repaired.put(itemKey, sound);
    await repaired.close();
    await (await openEmbeddedStore({ folder })).close();
  });

  it('reports why a path that is not a folder cannot be used', async () => {
    await (await openEmbeddedStore({ folder })).close();
    const file = join(folder, 'data.mdb');
    await readFile(file);
    await expect(openEmbeddedStore({ folder: file })).rejects.toThrow(/EEXIST/);
  });
});
