import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inMemory, openSpool, type Spool } from './blob-buffer.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-spool-'));
});
afterEach(() => rm(folder, { recursive: true }));

const collect = async (spool: Spool): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of spool.read()) chunks.push(chunk);
  return Buffer.concat(chunks);
};

describe.each([
  ['in memory', 1000],
  ['in a file', inMemory + 1000],
])('a spool %s', (_, size) => {
  const content = Buffer.alloc(size, 'abc');

  it('gives every reader the whole content, whenever it starts', async () => {
    const spool = await openSpool(path.join(folder, 'blob'), size);
    const early = collect(spool);
    for (let at = 0; at < size; at += 300_000) await spool.write(content.subarray(at, at + 300_000));
    spool.finish();
    expect((await early).equals(content)).toBe(true);
    expect((await collect(spool)).equals(content)).toBe(true);
    await spool.close();
    expect(await readdir(folder)).toEqual([]);
  });

  it('holds the last byte back until the content is checked', async () => {
    const spool = await openSpool(path.join(folder, 'blob'), size);
    await spool.write(content);
    let seen = 0;
    const reading = (async () => {
      for await (const chunk of spool.read()) seen += chunk.length;
    })();
    spool.fail(new Error('wrong digest'));
    await expect(reading).rejects.toThrow('wrong digest');
    expect(seen).toBeLessThan(size);
    await spool.close();
  });

  it('fails readers that are still waiting when it is closed', async () => {
    const spool = await openSpool(path.join(folder, 'blob'), size);
    const reading = expect(collect(spool)).rejects.toThrow('no longer held');
    await spool.close();
    await reading;
  });
});

describe('a full temporary folder', () => {
  it('is named, with what to do', async () => {
    // The device of Linux that is always full.
    const spool = await openSpool('/dev/full', inMemory + 1);
    await expect(spool.write(Buffer.alloc(10))).rejects.toMatchObject({
      reason: 'retryable',
      again: false,
      message: expect.stringMatching(/temporary folder is full \(ENOSPC.*ARC_WORK_DIR/),
    });
  });

  it('that is not there is explained as well', async () => {
    await expect(openSpool(path.join(folder, 'no', 'blob'), inMemory + 1)).rejects.toThrow(
      'cannot be used: ENOENT',
    );
  });
});
