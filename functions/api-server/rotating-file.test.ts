import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../test/fixtures/eventually.ts';
import { openRotatingFile, type RotatingFileOptions } from './rotating-file.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-rotating-'));
  file = path.join(folder, 'audit.log');
});
afterEach(() => rm(folder, { recursive: true }));

const openWith = (more: Partial<RotatingFileOptions>) =>
  openRotatingFile({
    ...{ file, maxBytes: 1_000, maxBackups: 100 },
    onLost: (_lines, error) => expect.unreachable(error.message),
    ...more,
  });

/** All there is, oldest first. */
async function files(): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => name.startsWith('audit')).sort();
  const former = names.filter((name) => name !== 'audit.log');
  return Promise.all([...former, 'audit.log'].map((name) => readFile(path.join(folder, name), 'utf8')));
}

describe('a rotating file', () => {
  it('holds every line once and in order, in files that are not longer than they may be', async () => {
    const line = fc.string({ minLength: 1, maxLength: 60, unit: fc.constantFrom('a', 'b', 'ä', '0') });
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 60 }),
        fc.integer({ min: 130, max: 400 }),
        async (lines, maxBytes) => {
          await rm(folder, { recursive: true });
          await mkdir(folder);
          const log = await openWith({ maxBytes });
          for (const each of lines) expect(log.write(each)).toBe(true);
          await log.close();
          const found = await files();
          expect(found.join('')).toBe(lines.map((each) => `${each}\n`).join(''));
          for (const text of found) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('keeps so many former files and no more, and leaves files of others alone', async () => {
    await writeFile(path.join(folder, 'audit-notes.log'), 'mine');
    const log = await openWith({ maxBytes: 10, maxBackups: 2 });
    for (let index = 0; index < 9; index++) log.write(`line ${index}`);
    await log.close();
    expect((await files()).sort()).toEqual(['line 6\n', 'line 7\n', 'line 8\n', 'mine']);
  });

  it('goes on in a file that was there', async () => {
    await writeFile(file, 'before\n');
    const log = await openWith({});
    log.write('after');
    await log.close();
    expect(await files()).toEqual(['before\nafter\n']);
  });

  it('begins anew where somebody has moved the file away, and loses nothing', async () => {
    const log = await openWith({});
    log.write('one');
    await eventually('the first line', 5_000, async () => expect(await readFile(file, 'utf8')).toBe('one\n'));
    await rename(file, path.join(folder, 'audit-moved'));
    log.write('two');
    await log.close();
    expect(await files()).toEqual(['one\n', 'two\n']);
  });

  it('tells what could not be written, and goes on when it can', async () => {
    const lost: number[] = [];
    const inside = path.join(folder, 'inside');
    await mkdir(inside);
    const log = await openWith({ file: path.join(inside, 'audit.log'), onLost: (lines) => lost.push(lines) });
    await rm(inside, { recursive: true });
    log.write('lost');
    await eventually('the loss to be told', 5_000, () => expect(lost).toEqual([1]));
    await mkdir(inside);
    log.write('kept');
    await log.close();
    expect(await readFile(path.join(inside, 'audit.log'), 'utf8')).toBe('\nkept\n');
  });

  it('takes no more than may wait', async () => {
    const log = await openWith({ maxBytes: 1024 ** 3 });
    const line = 'x'.repeat(16 * 1024 * 1024);
    expect(Array.from({ length: 6 }, () => log.write(line))).toEqual([true, true, true, false, false, false]);
    await log.close();
  });
});
