import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockFile } from './lock-file.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-lock-'));
});
afterEach(() => rm(folder, { recursive: true }));

const never = new AbortController().signal;

describe('lockFile', () => {
  it('lets one in after the other, and leaves nothing behind', async () => {
    const file = path.join(folder, 'lock');
    let inside = 0;
    const seen: number[] = [];
    const work = async () => {
      await using _lock = await lockFile(file, never);
      inside += 1;
      await new Promise((resolve) => setTimeout(resolve, 2));
      seen.push(inside);
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 10 }, work));
    expect(seen).toEqual(Array(10).fill(1));
    expect(await readdir(folder)).toEqual([]);
  });

  it('takes what a worker that was killed has left', async () => {
    const file = path.join(folder, 'lock');
    await writeFile(file, '');
    const past = new Date(Date.now() - 31_000);
    await utimes(file, past, past);
    await using _lock = await lockFile(file, never);
    expect(await readdir(folder)).toEqual(['lock']);
  });

  it('says where it cannot be made, and ends when it is told to', async () => {
    await expect(lockFile(path.join(folder, 'none', 'lock'), never)).rejects.toThrow(/Cannot write .*lock/);
    await using _lock = await lockFile(path.join(folder, 'lock'), never);
    const ended = lockFile(path.join(folder, 'lock'), AbortSignal.timeout(50));
    await expect(ended).rejects.toThrow();
  });
});
