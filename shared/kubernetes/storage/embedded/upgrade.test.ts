import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from './disk.ts';
import { area, formatKey, metaKey, revisionKey, revisionKeyOf } from './layout.ts';
import { openEmbeddedStore } from './open-embedded.ts';
import { encodeRecord, encodeRevision } from './record.ts';
import { recoverEmbeddedStore } from './recover.ts';
import { upgrade } from './upgrade.ts';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'arc-upgrade-'));
});

afterEach(() => rm(folder, { recursive: true }));

/** As version 2 wrote it: /a was written and replaced, /b written, and neither has a checksum. */
async function writeFormat2(
  items: Readonly<Record<string, number>>,
  owner = '{"pid":1,"at":1}',
): Promise<void> {
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
    database.putSync(metaKey('owner'), Buffer.from(owner));
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

  it('with a revision written by two processes is refused, and the remaining value is recovered', async () => {
    await writeFormat2({ '/a': 4, '/c': 4 });
    await expect(openEmbeddedStore({ folder })).rejects.toThrow(/\/a and \/c both have revision 4/);
    expect(await recoverEmbeddedStore({ folder })).toMatchObject({ saved: 1, lost: ['/c'] });
    await (await openEmbeddedStore({ folder })).close();
  });

  it('is left alone while a process of the version that wrote it runs', async () => {
    const earlier = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)']);
    const ended = once(earlier, 'exit');
    await writeFormat2({ '/a': 4, '/b': 3 }, JSON.stringify({ pid: earlier.pid, at: Date.now() }));
    const before = await readFile(join(folder, 'data.mdb'));
    const refused = { code: 'Conflict', message: expect.stringContaining(`process ${earlier.pid},`) };
    await expect(openEmbeddedStore({ folder })).rejects.toMatchObject(refused);
    await expect(recoverEmbeddedStore({ folder })).rejects.toMatchObject(refused);
    // The earlier version may start after the first look at the file.
    const database = await openDatabase(folder);
    expect(() => upgrade(database, 'id')).toThrow(expect.objectContaining(refused));
    await database.close();
    expect(Buffer.compare(before, await readFile(join(folder, 'data.mdb')))).toBe(0);
    earlier.kill();
    await ended;
    await (await openEmbeddedStore({ folder })).close();
  });

  it.runIf(process.platform === 'linux')(
    'is not kept by a process that has the number of the one that wrote it',
    async () => {
      const owner = JSON.stringify({ pid: process.pid, started: '1', at: Date.now() });
      await writeFormat2({ '/a': 4, '/b': 3 }, owner);
      await (await openEmbeddedStore({ folder })).close();
    },
  );
});
