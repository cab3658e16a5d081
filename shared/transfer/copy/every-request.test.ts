import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runs } from '#shared/base/testing';
import { type Fault, type Registry, seedImage, startRegistry } from '../../local/registry/index.ts';
import { copyImage } from '../testing/copy-image.ts';

const account = { username: 'bob', password: 'hunter22-secret' };
/** Requests of one copy to both registries, those to their token services included. */
const requests = 39;
const faults: Fault[] = [
  { kind: 'status', status: 503 },
  { kind: 'status', status: 429, retryAfter: '0' },
  { kind: 'reset' },
  { kind: 'truncate', bytes: 5 },
];

/** All of them in a soak; otherwise a status and a broken connection for each request. */
const faultsAt = (position: number) =>
  runs(1) > 1 ? faults : faults.filter((_, index) => index % 2 === position % 2);

let workDir = '';
let source: Registry;
let destination: Registry;
let digest = '';
beforeEach(async () => {
  workDir = await mkdtemp(path.join(os.tmpdir(), 'arc-positions-'));
  source = await startRegistry({ auth: 'bearer', ...account });
  destination = await startRegistry({ auth: 'bearer', ...account });
  ({ digest } = await seedImage(source, 'team/app', '1.0', { platforms: ['linux/amd64'], layers: 1 }));
});
afterEach(async () => {
  await Promise.all([source.close(), destination.close()]);
  await rm(workDir, { recursive: true });
});

/** Copies while `fault` befalls the request at `position`; resolves with how many there were. */
async function copyWith(fault: Fault | undefined, position: number): Promise<number> {
  let count = 0;
  for (const { faults } of [source, destination])
    faults.take = () => (count++ === position ? fault : undefined);
  destination.contents.clear();
  const at = { credentials: account };
  const result = await copyImage({
    source: { name: 'src', remoteURL: source.url, image: 'team/app:1.0', ...at },
    destination: { name: 'dst', remoteURL: destination.url, image: 'mirror/app:1.0', ...at },
    signal: AbortSignal.timeout(30_000),
    workDir,
    retry: { attempts: 3, baseMs: 2, maxMs: 5 },
  });
  expect(result).toMatchObject({ digest, referrers: 1 });
  const { tags, manifests, blobs } = destination.contents.get('mirror/app') ?? {};
  expect(tags?.get('1.0')).toBe(digest);
  // The index, the image and its signature; config and layer of both.
  expect(manifests?.size).toBe(3);
  expect(blobs?.size).toBe(source.contents.get('team/app')?.blobs.size);
  return count;
}

describe('a copy', () => {
  it('makes as many requests as this test interrupts', async () => {
    expect(await copyWith(undefined, -1)).toBe(requests);
  });

  it.each(Array.from({ length: requests }, (_, position) => position))(
    'is complete whatever happens to its request %i',
    async (position) => {
      for (const fault of faultsAt(position)) await copyWith(fault, position);
    },
  );
});
