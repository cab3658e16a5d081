import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomIntegers } from '#shared/base/testing';
import { inspectPages } from './check-pages.ts';
import { PageFile } from './page-file.ts';

const pageSize = 4096;
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'arc-pages-'));
});

afterAll(() => rm(folder, { recursive: true }));

function inspect(path: string) {
  const file = new PageFile(path, pageSize);
  try {
    return { ...inspectPages(file), lastPage: file.newest().lastPage };
  } finally {
    file.close();
  }
}

describe('inspectPages', () => {
  it('finds nothing wrong with a file that LMDB writes, and each page in use or free', async () => {
    const random = randomIntegers();
    const database = open<Buffer, Buffer>({
      path: folder,
      pageSize,
      encoding: 'binary',
      keyEncoding: 'binary',
      noSync: true,
      overlappingSync: false,
      mapSize: 2 ** 30,
    });
    const path = join(folder, 'data.mdb');
    expect(inspect(path).finding).toBeUndefined();
    for (let round = 0; round < 60; round += 1) {
      await database.batch(() => {
        for (let write = 0; write < 40; write += 1) {
          const key = Buffer.from(`${random(0, 400)}`.padStart(random(1, 60), '-'));
          if (random(0, 3) === 0) void database.remove(key);
          else void database.put(key, Buffer.alloc(random(0, 10) === 0 ? random(0, 30_000) : random(0, 900)));
        }
      });
      const { finding, used, free, lastPage } = inspect(path);
      expect(finding, `round ${round}`).toBeUndefined();
      const inUse = used.reduce((sum, one) => sum + one, 0);
      expect(2 + inUse + (free?.size ?? 0), `round ${round}`).toBe(lastPage + 1);
    }
    await database.close();
  });

  it.each([
    ['the mark of a meta page', 24, /meta page 0 is not an LMDB meta page/],
    ['the transaction of a meta page', pageSize + 158, /meta page 1|not of two transactions/],
    ['the number of a page in use', undefined, /is not the one that was written there/],
  ])('names %s that was changed', (_, place, message) => {
    const copy = join(folder, 'copy.mdb');
    copyFileSync(join(folder, 'data.mdb'), copy);
    const data = readFileSync(copy);
    const page = inspect(copy).used.indexOf(1);
    const at = place ?? page * pageSize;
    data.writeUInt8((data[at] ?? 0) ^ 0x80, at);
    writeFileSync(copy, data);
    const file = new PageFile(copy, pageSize);
    expect(inspectPages(file).finding).toMatch(message);
    file.close();
  });
});
