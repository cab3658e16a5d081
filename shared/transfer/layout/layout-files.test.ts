import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it, vi } from 'vitest';

it('two containers with equal process IDs write the same blob concurrently', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'arc-layout-'));
  const container = async () => {
    vi.resetModules();
    return (await import('./layout-files.ts')).layoutFiles(folder);
  };
  const [one, other] = [await container(), await container()];
  const file = path.join(folder, 'blob');
  const { signal } = new AbortController();
  const opened = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  async function* slowly() {
    yield Buffer.from('con');
    opened.resolve();
    await ended.promise;
    yield Buffer.from('tent');
  }
  try {
    const first = one.write(file, slowly(), signal);
    await opened.promise;
    await other.write(file, Buffer.from('content'), signal);
    ended.resolve();
    await first;
    expect([await readFile(file, 'utf8'), await readdir(folder)]).toEqual(['content', ['blob']]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
