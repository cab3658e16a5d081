import fs, { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { lockFile } from './lock-file.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-lock-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  await rm(folder, { recursive: true });
});

/** Holds up the next `stat` until the promise has resolved. Resolves when `stat` has been called. */
function holdUpStat(until: Promise<void>): Promise<void> {
  const { stat } = fs;
  const { promise: called, resolve } = Promise.withResolvers<void>();
  vi.spyOn(fs, 'stat').mockImplementationOnce(async (...args) => {
    const found = await stat(...args);
    resolve();
    await until;
    return found;
  });
  syncBuiltinESMExports();
  return called;
}

/** The lock of a worker that was killed. */
async function leave(file: string): Promise<void> {
  await writeFile(file, '');
  const past = new Date(Date.now() - 31_000);
  await utimes(file, past, past);
}

const never = new AbortController().signal;

describe('lockFile', () => {
  it('admits one holder at a time, and leaves nothing behind', async () => {
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

  it('takes over the lock of a killed worker', async () => {
    const file = path.join(folder, 'lock');
    await leave(file);
    await using _lock = await lockFile(file, never);
    expect(await readdir(folder)).toEqual(['lock']);
  });

  it('does not remove a lock that another worker has renewed', async () => {
    const file = path.join(folder, 'lock');
    await leave(file);
    const gate = Promise.withResolvers<void>();
    const called = holdUpStat(gate.promise);
    const slow = lockFile(file, AbortSignal.timeout(100));
    // Otherwise the other one might call it first, and wait for itself.
    await called;
    await using _lock = await lockFile(file, never);
    gate.resolve();
    await expect(slow).rejects.toThrow();
    expect(await readdir(folder)).toEqual(['lock']);
  });

  it('takes over the lock of a worker that was killed while replacing a stale one', async () => {
    const file = path.join(folder, 'lock');
    await leave(file);
    await leave(`${file}.next`);
    await using _lock = await lockFile(file, never);
    expect(await readdir(folder)).toEqual(['lock']);
  });

  it('does not remove the lock of the next worker after its own became stale', async () => {
    const file = path.join(folder, 'lock');
    const slow = await lockFile(file, never);
    await leave(file);
    await using _next = await lockFile(file, never);
    const began = performance.now();
    vi.spyOn(performance, 'now').mockReturnValue(began + 31_000);
    await slow[Symbol.asyncDispose]();
    expect(await readdir(folder)).toEqual(['lock']);
  });

  it('reports where it cannot be created, and can be aborted', async () => {
    await expect(lockFile(path.join(folder, 'none', 'lock'), never)).rejects.toThrow(/Cannot write .*lock/);
    await using _lock = await lockFile(path.join(folder, 'lock'), never);
    const ended = lockFile(path.join(folder, 'lock'), AbortSignal.timeout(50));
    await expect(ended).rejects.toThrow();
  });
});
