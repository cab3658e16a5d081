import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from './disk.ts';
import { area, formatKey, metaKey, revisionKey, revisionKeyOf } from './layout.ts';
import { openEmbeddedStore } from './open-embedded.ts';
import { encodeRecord, encodeRevision } from './record.ts';
import { recoverEmbeddedStore } from './recover.ts';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'arc-upgrade-'));
});

afterEach(() => rm(folder, { recursive: true }));

/** As version 2 wrote it: /a was written and replaced, /b written, and neither has a checksum. */
async function writeFormat2(items: Readonly<Record<string, number>>): Promise<void> {
  const database = await openDatabase(folder);
  const records = [
    { type: 'put' as const, key: '/a', revision: 2, previous: 0, previousBytes: 0 },
    { type: 'put' as const, key: '/b', revision: 3, previous: 0, previousBytes: 0 },
    { type: 'put' as const, key: '/a', revision: 4, previous: 2, previousBytes: 1 },
  ];
  database.transactionSync(() => {
    for (const record of records) {
      database.putSync(revisionKeyOf(area.history, record.revision), encodeRecord(record).subarray(4));
      database.putSync(revisionKeyOf(area.values, record.revision), Buffer.of(record.revision));
    }
    for (const [key, revision] of Object.entries(items))
      database.putSync(Buffer.from(`\x03${key}`), encodeRevision(revision));
    database.putSync(revisionKey, Buffer.from('4'));
    database.putSync(formatKey, Buffer.from('2'));
    database.putSync(metaKey('owner'), Buffer.from('{"pid":1,"at":1}'));
  });
  await database.close();
}

describe('a store of the format without checksums', () => {
  it('is read with its history, and has checksums from then on', async () => {
    await writeFormat2({ '/a': 4, '/b': 3 });
    for (const time of ['first', 'second']) {
      const store = await openEmbeddedStore({ folder, recentBytes: 0 });
      const { items, revision } = await store.list('/');
      expect([revision, ...items.map(({ key, value }) => [key, ...value])], time).toEqual([
        4,
        ['/a', 4],
        ['/b', 3],
      ]);
      expect((await store.list('/', { revision: 3 })).items.map(({ value }) => [...value])).toEqual([
        [2],
        [3],
      ]);
      await store.close();
    }
    const database = await openDatabase(folder);
    const at = revisionKeyOf(area.values, 3);
    const stored = Buffer.from(database.get(at) ?? []);
    stored.writeUInt8(9, stored.length - 1);
    database.putSync(at, stored);
    await database.close();
    await expect(openEmbeddedStore({ folder })).rejects.toThrow(/the value of \/b cannot be read/);
  });

  it('in which two processes wrote one revision is refused, and the value that is left is saved', async () => {
    await writeFormat2({ '/a': 4, '/c': 4 });
    await expect(openEmbeddedStore({ folder })).rejects.toThrow(/\/a and \/c both have revision 4/);
    expect(await recoverEmbeddedStore({ folder })).toMatchObject({ saved: 1, lost: ['/c'] });
    await (await openEmbeddedStore({ folder })).close();
  });
});
