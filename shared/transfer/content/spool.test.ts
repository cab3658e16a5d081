import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TransferError } from '../errors/transfer-error.ts';
import { createSpool } from './spool.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-spool-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function* chunks(...texts: string[]): AsyncIterable<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

async function collect(content: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const chunk of content) all.push(chunk);
  return Buffer.concat(all).toString();
}

describe('a spool', () => {
  it('can be read repeatedly, and leaves nothing behind', async () => {
    const spool = createSpool(path.join(folder, 'blob'));
    await spool.fill(chunks('a'.repeat(300_000), 'b'));
    expect(spool.filled).toBe(true);
    expect(await collect(spool.read())).toBe(`${'a'.repeat(300_000)}b`);
    expect(await collect(spool.read())).toHaveLength(300_001);
    await spool.close();
    expect(await readdir(folder)).toEqual([]);
  });

  it('fails as its content does, and can be filled again', async () => {
    const spool = createSpool(path.join(folder, 'blob'));
    async function* broken(): AsyncIterable<Uint8Array> {
      yield* chunks('too much');
      throw new TransferError('permanent', 'wrong content');
    }
    await expect(spool.fill(broken())).rejects.toThrow('wrong content');
    expect(spool.filled).toBe(false);
    await spool.fill(chunks('x'));
    expect(await collect(spool.read())).toBe('x');
  });

  it('reports a full folder, with advice', async () => {
    // The device of Linux that is always full; behind a link, because closing the spool removes its file.
    await symlink('/dev/full', path.join(folder, 'blob'));
    const spool = createSpool(path.join(folder, 'blob'));
    await expect(spool.fill(chunks('x'))).rejects.toMatchObject({
      reason: 'retryable',
      again: false,
      message: expect.stringMatching(/temporary folder is full \(ENOSPC.*ARC_WORK_DIR/),
    });
    await spool.close();
  });

  it('reports a folder that does not exist', async () => {
    await expect(createSpool(path.join(folder, 'no', 'blob')).fill(chunks('x'))).rejects.toThrow(
      'Cannot use the temporary file for a blob: ENOENT',
    );
  });
});
