import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLimiter } from './limiter.ts';
import { waitsIn } from './waits.ts';

const start = Date.now();
let now = start;
let folder = '';
beforeEach(async () => {
  now = start;
  folder = path.join(await mkdtemp(path.join(os.tmpdir(), 'arc-waits-')), 'waits');
});
afterEach(() => rm(path.dirname(folder), { recursive: true }));

const host = 'https://registry.example.com';
/** What another worker of the machine knows: nothing of it is in this one's memory. */
const worker = (of = host) => waitsIn(folder, () => now)(of);

describe('workers of one machine', () => {
  it('know what another one was told by the same server, until it has passed', () => {
    const limiter = createLimiter({ now: () => now, waits: worker() });
    limiter.slowDown(5_000);
    expect(worker().until()).toBe(start + 5_000);
    expect(worker('https://other.example.com').until()).toBe(0);
  });

  it('start no request before the end of that wait, and fewer at a time after it', async () => {
    worker().tell(Date.now() + 400);
    const limiter = createLimiter({ waits: waitsIn(folder)(host) });
    const ended = await limiter.run(AbortSignal.timeout(10_000), async () => Date.now());
    expect(ended).toBeGreaterThanOrEqual(start + 400);
    expect(limiter.limit).toBe(4);
  });

  it('look again after a moment, and keep the longest wait', () => {
    const mine = worker();
    expect(mine.until()).toBe(0);
    worker().tell(start + 9_000);
    worker().tell(start + 3_000);
    expect(mine.until()).toBe(0);
    now += 200;
    expect(mine.until()).toBe(start + 9_000);
  });

  it('are not told of a wait for which a worker gives up', async () => {
    createLimiter({ now: () => now, waits: worker() }).slowDown(120_000);
    expect(worker().until()).toBe(0);
  });

  it('do not believe a time further ahead than a server may ask for', async () => {
    worker().tell(start + 5_000);
    const [file = ''] = await readdir(folder);
    await utimes(path.join(folder, file), start / 1000 + 3_600, start / 1000 + 3_600);
    expect(worker().until()).toBe(0);
  });

  it('go by their own answers where the folder is of no use', async () => {
    await writeFile(folder, 'a file');
    const limiter = createLimiter({ waits: worker() });
    limiter.slowDown(1);
    expect(await limiter.run(AbortSignal.timeout(10_000), async () => 'goes on')).toBe('goes on');
  });

  it('name no server in the folder', async () => {
    worker('https://secret.example.com/../..').tell(start + 1_000);
    expect(await readdir(folder)).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
  });
});
