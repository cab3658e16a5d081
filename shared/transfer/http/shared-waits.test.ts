import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLimiter } from './limiter.ts';
import { sharedWaitsIn } from './shared-waits.ts';

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
const worker = (of = host) => sharedWaitsIn(folder, () => now)(of);

describe('workers of one machine', () => {
  it('share the waits of one account at one server until they have passed', () => {
    const limiter = createLimiter({ waits: worker() });
    limiter.slowDown(5_000);
    expect(worker().newWait()).toBe(5_000);
    expect(worker('https://other.example.com').newWait()).toBe(0);
    now += 5_000;
    expect(worker().newWait()).toBe(0);
  });

  it('start no request before the end of a shared wait, and fewer at a time afterwards', async () => {
    worker().record(400);
    const limiter = createLimiter({ waits: sharedWaitsIn(folder)(host) });
    const ended = await limiter.run(AbortSignal.timeout(10_000), async () => Date.now());
    expect(ended).toBeGreaterThanOrEqual(start + 400);
    expect(limiter.limit).toBe(4);
  });

  it('poll at an interval, keep the longest wait, and report each once', () => {
    const mine = worker();
    expect(mine.newWait()).toBe(0);
    worker().record(9_000);
    worker().record(3_000);
    expect(mine.newWait()).toBe(0);
    now += 200;
    expect(mine.newWait()).toBe(8_800);
    now += 200;
    expect(mine.newWait()).toBe(0);
  });

  it('do not share a wait for which a worker gives up', async () => {
    createLimiter({ waits: worker() }).slowDown(120_000);
    expect(worker().newWait()).toBe(0);
  });

  it('ignore a time beyond the longest Retry-After, and share the next wait', async () => {
    worker().record(5_000);
    const [file = ''] = await readdir(folder);
    await utimes(path.join(folder, file), start / 1000 + 3_600, start / 1000 + 3_600);
    expect(worker().newWait()).toBe(0);
    worker().record(2_000);
    expect(worker().newWait()).toBe(2_000);
  });

  it('poll again after the clock was set back', () => {
    const mine = worker();
    expect(mine.newWait()).toBe(0);
    now -= 3_600_000;
    worker().record(2_000);
    expect(mine.newWait()).toBe(2_000);
  });

  it('rely on their own responses if the folder is unusable', async () => {
    await writeFile(folder, 'a file');
    const limiter = createLimiter({ waits: worker() });
    limiter.slowDown(1);
    expect(await limiter.run(AbortSignal.timeout(10_000), async () => 'goes on')).toBe('goes on');
  });

  it('follow no symbolic link, and do not block on a pipe', async () => {
    worker().record(5_000);
    const file = path.join(folder, (await readdir(folder))[0] ?? '');
    const victim = path.join(path.dirname(folder), 'victim');
    await writeFile(victim, 'kept');
    const { mtimeMs } = await stat(victim);
    await rm(file);
    await symlink(victim, file);
    worker().record(6_000);
    expect([await readFile(victim, 'utf8'), (await stat(victim)).mtimeMs]).toEqual(['kept', mtimeMs]);
    await rm(file);
    execFileSync('mkfifo', [file]);
    worker().record(7_000);
    expect(worker().newWait()).toBe(0);
  });

  it('do not name servers in the folder', async () => {
    worker('https://secret.example.com/../..').record(1_000);
    expect(await readdir(folder)).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
  });
});
