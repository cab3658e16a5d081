import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BlobBuffer, maxMemoryBytes, openBlobBuffer } from './blob-buffer.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-spool-'));
});
afterEach(() => rm(folder, { recursive: true }));

const collect = async (buffer: BlobBuffer): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of buffer.read()) chunks.push(chunk);
  return Buffer.concat(chunks);
};

describe.each([
  ['in memory', 1000],
  ['in a file', maxMemoryBytes + 1000],
])('a buffer %s', (_, size) => {
  const content = Buffer.alloc(size, 'abc');

  it('gives every reader the whole content, whenever the reader starts', async () => {
    const buffer = await openBlobBuffer(path.join(folder, 'blob'), size);
    const early = collect(buffer);
    for (let at = 0; at < size; at += 300_000) await buffer.write(content.subarray(at, at + 300_000));
    buffer.finish();
    expect((await early).equals(content)).toBe(true);
    expect((await collect(buffer)).equals(content)).toBe(true);
    await buffer.close();
    expect(await readdir(folder)).toEqual([]);
  });

  it('withholds the last byte until the content is verified', async () => {
    const buffer = await openBlobBuffer(path.join(folder, 'blob'), size);
    await buffer.write(content);
    let seen = 0;
    const reading = (async () => {
      for await (const chunk of buffer.read()) seen += chunk.length;
    })();
    buffer.fail(new Error('wrong digest'));
    await expect(reading).rejects.toThrow('wrong digest');
    expect(seen).toBeLessThan(size);
    await buffer.close();
  });

  it('fails readers that still wait when it is closed', async () => {
    const buffer = await openBlobBuffer(path.join(folder, 'blob'), size);
    const reading = expect(collect(buffer)).rejects.toThrow('is closed');
    await buffer.close();
    await reading;
  });
});

describe('a full temporary folder', () => {
  it('is reported, with what to do', async () => {
    // The device of Linux that is always full; behind a link, because closing the buffer removes its file.
    await symlink('/dev/full', path.join(folder, 'blob'));
    const buffer = await openBlobBuffer(path.join(folder, 'blob'), maxMemoryBytes + 1);
    await expect(buffer.write(Buffer.alloc(10))).rejects.toMatchObject({
      reason: 'retryable',
      again: false,
      message: expect.stringMatching(/temporary folder is full \(ENOSPC.*ARC_WORK_DIR/),
    });
    await buffer.close();
  });

  it('that does not exist is reported as well', async () => {
    await expect(openBlobBuffer(path.join(folder, 'no', 'blob'), maxMemoryBytes + 1)).rejects.toThrow(
      'Cannot use the temporary file for a blob: ENOENT',
    );
  });
});
