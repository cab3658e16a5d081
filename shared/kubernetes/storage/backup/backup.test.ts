import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEmbeddedStore } from '../embedded/open-embedded.ts';
import { restoreEmbeddedStore } from '../embedded/restore-embedded.ts';
import type { Store } from '../interface/store.ts';
import { readBackup } from './read-backup.ts';
import { restoreItems } from './restore-items.ts';
import { writeBackup } from './write-backup.ts';

const prefix = '/registry/';
const now = new Date('2026-01-02T03:04:05Z');
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'arc-backup-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function saved(store: Store): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of writeBackup(store, { prefix, now })) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The text in pieces that end in the middle of lines. */
async function* pieces(content: Buffer, size = 100) {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
}

async function stateOf(store: Store): Promise<Record<string, string>> {
  const { items } = await store.list(prefix);
  return Object.fromEntries(items.map(({ key, value }) => [key, Buffer.from(value).toString()]));
}

async function put(store: Store, key: string, text: string): Promise<void> {
  const { item } = await store.get(key);
  const value = Buffer.from(text);
  expect((await (item ? store.update(key, value, item.revision) : store.create(key, value))).ok).toBe(true);
}

async function filled(name: string): Promise<Store> {
  const store = await openEmbeddedStore({ folder: path.join(folder, name) });
  const numbers = Array.from({ length: 1100 }, (_, at) => at);
  await Promise.all(numbers.map((at) => store.create(`${prefix}${1000 + at}`, Buffer.from(`"ä${at}"`))));
  await put(store, '/elsewhere', 'not in it');
  return store;
}

describe('a backup of a store', () => {
  it('is a snapshot at one revision despite concurrent writes', async () => {
    const store = await filled('busy');
    const before = await stateOf(store);
    const chunks: Buffer[] = [];
    for await (const chunk of writeBackup(store, { prefix, now })) {
      chunks.push(chunk);
      await put(store, `${prefix}2099`, `"changed ${chunks.length}"`);
    }
    await store.close();
    const { items, ...rest } = await readBackup(pieces(Buffer.concat(chunks)));
    expect(rest).toEqual({ format: 'arc-backup/1', prefix, time: now.toISOString(), revision: 1102 });
    expect(Object.fromEntries(items.map(({ key, value }) => [key, Buffer.from(value).toString()]))).toEqual(
      before,
    );
  });

  it('is refused where it was cut off, changed or is something else', async () => {
    const store = await filled('whole');
    const whole = await saved(store);
    await store.close();
    const lines = whole.toString().split('\n');
    const wrong: [string, string][] = [
      ['', 'cut off'],
      [lines.slice(0, -2).join('\n'), 'cut off'],
      [whole.toString().replace('"revision":7,', '"revision":8,'), 'checksum'],
      [lines.toSpliced(20, 1).join('\n'), 'checksum'],
      [whole.toString().replace('arc-backup/1', 'arc-backup/2'), 'format'],
      ['\u001f\u008b\u0008', 'decompressed'],
      [`${whole}{}`, 'follows'],
    ];
    for (const [text, why] of wrong)
      await expect(readBackup(pieces(Buffer.from(text), 9000)), why).rejects.toMatchObject({
        code: 'Invalid',
        message: expect.stringContaining(why),
      });
  });

  it('makes another store equal to it, and changes nothing the second time', async () => {
    const store = await filled('source');
    const wanted = await stateOf(store);
    const backup = await readBackup(pieces(await saved(store)));
    await put(store, `${prefix}1000`, '"changed"');
    await put(store, `${prefix}new`, '"made later"');
    const { item } = await store.get(`${prefix}1001`);
    await store.delete(`${prefix}1001`, item?.revision ?? 0);
    expect(await restoreItems(store, backup)).toEqual({ written: 2, deleted: 1, unchanged: 1098 });
    expect(await stateOf(store)).toEqual(wanted);
    expect(await restoreItems(store, backup)).toEqual({ written: 0, deleted: 0, unchanged: 1100 });
    expect((await store.get('/elsewhere')).item).toBeDefined();
    await store.close();
  });

  it.each(['lost', 'whole'])(
    'replaces an embedded store that is %s; watches of before expire',
    async (state) => {
      const place = path.join(folder, `embedded-${state}`);
      const store = await filled(`embedded-${state}`);
      const wanted = await stateOf(store);
      const backup = await readBackup(pieces(await saved(store)));
      await put(store, `${prefix}new`, '"made later"');
      const seen = await store.revision();
      await expect(restoreEmbeddedStore({ folder: place }, backup)).rejects.toMatchObject({
        code: 'Conflict',
      });
      await store.close();
      if (state === 'lost') await rm(place, { recursive: true });
      const aside = await restoreEmbeddedStore({ folder: place }, backup);
      expect(await readdir(aside)).toHaveLength(state === 'lost' ? 0 : 2);
      const again = await openEmbeddedStore({ folder: place });
      expect(await stateOf(again)).toEqual(wanted);
      expect(await again.revision()).toBeGreaterThan(seen + 999_999_000);
      for (const after of [1, seen]) {
        const batches = again.watch(prefix, { after, signal: AbortSignal.timeout(5000) });
        await expect(allOf(batches)).rejects.toMatchObject({ code: 'Expired' });
      }
      await put(again, `${prefix}1000`, '"goes on"');
      await again.close();
      const reopened = await openEmbeddedStore({ folder: place });
      expect((await reopened.get(`${prefix}1000`)).item?.value).toEqual(
        new Uint8Array(Buffer.from('"goes on"')),
      );
      await reopened.close();
    },
  );
});

async function allOf<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of source) all.push(each);
  return all;
}
