import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSentinel, readExpected, sentinelFile, writeSentinel } from './sentinel.ts';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'arc-sentinel-'));
});

afterEach(() => rm(folder, { recursive: true }));

describe('the sentinel', () => {
  it('knows the identity of the store and the greatest revision that was noted', () => {
    expect(readExpected(folder)).toBeUndefined();
    const sentinel = writeSentinel(folder, { id: 'one', revision: 1 });
    expect(readExpected(folder)).toEqual({ id: 'one', revision: 1 });
    for (const revision of [2, 3, 7, 5]) sentinel.note(revision);
    expect(readExpected(folder)).toEqual({ id: 'one', revision: 7 });
    sentinel.close();
  });

  it.each([2, 3, 4])('has the revision before where the last of %i writes was cut off', async (writes) => {
    writeSentinel(folder, { id: 'one', revision: 1 }).close();
    for (let revision = 2; revision <= writes + 1; revision += 1) {
      const sentinel = openSentinel(folder, readExpected(folder) ?? expect.fail('there is no sentinel'));
      sentinel.note(revision);
      sentinel.close();
    }
    const file = join(folder, sentinelFile);
    const last = String(writes + 1).padStart(16, '0');
    const text = (await readFile(file, 'latin1')).replace(last, `${last.slice(0, -1)}x`);
    await writeFile(file, text, 'latin1');
    expect(readExpected(folder)).toEqual({ id: 'one', revision: writes });
  });

  it('reports a damaged file', async () => {
    await writeFile(join(folder, sentinelFile), '');
    expect(() => readExpected(folder)).toThrow(
      /file sentinel, which records the expected data, cannot be read/,
    );
  });
});
