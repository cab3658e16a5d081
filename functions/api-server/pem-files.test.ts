import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ArcError } from '#shared/base/errors';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { followPem, readPem } from './pem-files.ts';

let folder: string;
let files: { ca: string; cert: string; key: string };
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-certificate-'));
  const file = (name: string) => path.join(folder, name);
  files = { ca: file('ca.crt'), cert: file('tls.crt'), key: file('tls.key') };
  await writeFile(files.ca, 'ca 1');
  await writeFile(files.cert, 'cert 1');
  await writeFile(files.key, 'key 1');
});
afterEach(() => rm(folder, { recursive: true }));

describe('followPem', () => {
  it('reports changes, repeats a change that was refused, and ends with its signal', async () => {
    const control = new AbortController();
    const seen: (typeof files)[] = [];
    const failures: ArcError[] = [];
    const done = followPem({
      files,
      current: await readPem(files),
      everyMs: 5,
      signal: control.signal,
      onFailure: (error) => failures.push(error),
      onChange: (texts) => {
        if (texts.cert === 'cert 2' && texts.key === 'key 1') throw new Error('does not fit');
        seen.push(texts);
      },
    });
    await writeFile(files.cert, 'cert 2');
    await eventually('half of the pair to be refused', 5_000, () => expect(failures).not.toHaveLength(0));
    await writeFile(files.key, 'key 2');
    const renewed = { ca: 'ca 1', cert: 'cert 2', key: 'key 2' };
    await eventually('the new pair', 5_000, () => expect(seen).toEqual([renewed]));
    await writeFile(files.ca, 'ca 2');
    await eventually('the new authority', 5_000, () =>
      expect(seen.at(-1)).toEqual({ ...renewed, ca: 'ca 2' }),
    );
    control.abort();
    await done;
  });

  it('names a file that is empty', async () => {
    await writeFile(files.key, '');
    await expect(readPem(files)).rejects.toThrow(`${files.key} is empty`);
  });

  it('names the file that cannot be read', async () => {
    await rm(files.key);
    await expect(readPem(files)).rejects.toThrow(files.key);
  });
});
