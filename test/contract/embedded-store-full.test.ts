import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { openEmbeddedStore } from '#shared/kubernetes/storage';

const filler = fileURLToPath(new URL('./store-filler.ts', import.meta.url));

it('the embedded store refuses writes its disk has no room for, lives on, and has all it acknowledged', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'arc-full-'));
  try {
    // 8,192 blocks of 512 or 1,024 bytes: what a file may grow to.
    const script = 'ulimit -f 8192; exec "$0" "$@"';
    const argv = ['-c', script, process.execPath, filler, folder];
    const { stdout } = await promisify(execFile)('sh', argv, { timeout: 15_000, maxBuffer: 10_000_000 });
    const said = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    expect(said).toMatchObject({ codes: ['ServiceUnavailable'], listed: said.acknowledged.length });
    expect(said.acknowledged.length).toBeGreaterThan(0);
    expect(said.message).toMatch(/could not write to disk \(.+\); is it full\?/);
    const store = await openEmbeddedStore({ folder });
    const { items, revision } = await store.list('/');
    expect(new Set(items.map(({ key }) => key))).toEqual(new Set(said.acknowledged));
    expect(revision).toBe(said.revision);
    await store.close();
  } finally {
    await rm(folder, { recursive: true });
  }
});
