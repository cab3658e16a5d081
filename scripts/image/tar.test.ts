import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { type Entry, tarOf } from './tar.ts';

const run = promisify(execFile);
let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-tar-'));
});
afterEach(() => rm(folder, { recursive: true }));

const file = (name: string, content: string | Buffer, mode = 0o644): Entry => {
  return { type: 'file', path: name, mode, content: Buffer.from(content) };
};

describe('tarOf', () => {
  it('is read by the tar of the system, with contents, modes and links', async () => {
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 251));
    const tar = await tarOf(
      [
        file('usr/bin/program', bytes, 0o755),
        file('empty', ''),
        { type: 'link', path: 'usr/bin/other', target: 'program' },
        { type: 'directory', path: 'tmp', mode: 0o1777 },
      ],
      1_000_000_000,
    );
    await writeFile(path.join(folder, 'a.tar'), tar);
    await run('tar', ['-xpf', 'a.tar'], { cwd: folder });
    expect(await readFile(path.join(folder, 'usr/bin/program'))).toEqual(bytes);
    expect((await stat(path.join(folder, 'usr/bin/program'))).mode & 0o7777).toBe(0o755);
    expect((await stat(path.join(folder, 'usr/bin/program'))).mtimeMs).toBe(1e12);
    expect((await stat(path.join(folder, 'tmp'))).mode & 0o7777).toBe(0o1777);
    expect(await readlink(path.join(folder, 'usr/bin/other'))).toBe('program');
    expect((await stat(path.join(folder, 'empty'))).size).toBe(0);
    const { stdout } = await run('tar', ['-tvf', 'a.tar', '--numeric-owner'], { cwd: folder });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.every((line) => / 0\/0 /.test(line))).toBe(true);
    expect(lines.map((line) => /:\d\d (.*?)(?: -> .*)?$/.exec(line)?.[1])).toEqual([
      'empty',
      'tmp/',
      'usr/',
      'usr/bin/',
      'usr/bin/other',
      'usr/bin/program',
    ]);
  });

  it('holds paths and targets of more than 100 bytes, and of other alphabets', async () => {
    const long = `${'folder/'.repeat(30)}${'name'.repeat(40)}`;
    const target = 'target/'.repeat(30);
    const entries: Entry[] = [
      file(long, 'long'),
      file('ключ', 'key'),
      { type: 'link', path: 'link', target },
    ];
    await writeFile(path.join(folder, 'a.tar'), await tarOf(entries, 0));
    await run('tar', ['-xf', 'a.tar'], { cwd: folder });
    expect(await readFile(path.join(folder, long), 'utf8')).toBe('long');
    expect(await readFile(path.join(folder, 'ключ'), 'utf8')).toBe('key');
    expect(await readlink(path.join(folder, 'link'))).toBe(target);
  });

  it('does not depend on the order of the entries', async () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}(\/[a-z.-]{1,8}x){0,3}$/), {
      minLength: 1,
      maxLength: 8,
      selector: (name) => name.split('/')[0],
    });
    const arbitrary = names.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    await fc.assert(
      fc.asyncProperty(arbitrary, async ([one, other]) => {
        const of = (paths: string[]) =>
          tarOf(
            paths.map((name) => file(name, name)),
            0,
          );
        expect((await of(one)).equals(await of(other))).toBe(true);
      }),
    );
  });

  it('refuses two entries of one path, and times that it cannot hold', async () => {
    await expect(tarOf([file('a', ''), file('a', '')], 0)).rejects.toThrow('duplicate entry');
    await expect(tarOf([file('a', '')], 2 ** 31)).rejects.toThrow('outside of 1970 to 2038');
    await expect(tarOf([file('a', '')], -1)).rejects.toThrow('outside of 1970 to 2038');
  });
});
