import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { progressFile } from './progress-file.ts';

describe('the progress file', () => {
  it('has the first and the last value, few in between, and never decreases', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'arc-progress-'));
    const file = path.join(folder, 'progress');
    const read = () => readFile(file, 'utf8');
    let now = 0;
    const progress = progressFile({ file, now: () => now, warn: () => expect.unreachable() });
    progress(0, 100);
    expect(await read()).toBe('0/100\n');
    progress(10, 100);
    expect(await read()).toBe('0/100\n');
    now = 1000;
    progress(20, 100);
    now = 2000;
    progress(15, 100);
    expect(await read()).toBe('20/100\n');
    progress(20, 90);
    expect(await read()).toBe('20/90\n');
    now = 3000;
    progress(100, 100);
    expect(await read()).toBe('100/100\n');
    await rm(folder, { recursive: true });
  });

  it('ends when everything turns out to exist', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'arc-progress-'));
    const file = path.join(folder, 'progress');
    const progress = progressFile({ file, now: () => 0, warn: () => expect.unreachable() });
    progress(0, 100);
    progress(0, 40);
    progress(0, 0);
    expect(await readFile(file, 'utf8')).toBe('1/1\n');
    await rm(folder, { recursive: true });
  });

  it('causes one warning and no failure when it cannot be written', () => {
    const warnings: string[] = [];
    const progress = progressFile({ file: '/dev/null/x', now: () => 0, warn: (line) => warnings.push(line) });
    progress(0, 10);
    progress(10, 10);
    expect(warnings).toHaveLength(1);
  });
});
