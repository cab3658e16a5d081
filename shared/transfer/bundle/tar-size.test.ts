import { mkdtemp, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { tarSize } from './tar-size.ts';
import { memoryFile, writeTar } from './write-tar.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-tar-'));
});
afterEach(() => rm(folder, { recursive: true }));

it('equals the size of the written tar, whatever the lengths of names and files', async () => {
  const hex = (length: number) => fc.constant('a'.repeat(length));
  const name = fc.oneof(
    fc.constantFrom('index.json', 'arc-bundle.json'),
    hex(64).map((text) => `blobs/sha256/${text}`),
    hex(128).map((text) => `blobs/sha512/${text}`),
  );
  const files = fc.array(fc.record({ name, size: fc.constantFrom(0, 1, 511, 512, 513, 5000) }), {
    maxLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(files, async (given) => {
      const file = path.join(folder, 'x.tar');
      await writeTar(
        given.map(({ name, size }) => memoryFile(name, Buffer.alloc(size, 'x'))),
        { file, partSize: undefined, onBytes: () => undefined, signal: new AbortController().signal },
      );
      expect((await stat(file)).size).toBe(tarSize(given));
    }),
    { numRuns: 50 },
  );
});
