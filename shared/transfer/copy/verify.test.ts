import os from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Registry, seedImage, startRegistry } from '../../local/registry/index.ts';
import { copyBatch } from '../batch/copy-batch.ts';
import { registrySink, registrySource } from '../oci/registry-content.ts';
import { copyImage } from '../testing/copy-image.ts';

let source: Registry;
let destination: Registry;
beforeEach(async () => {
  source = await startRegistry();
  destination = await startRegistry();
});
afterEach(() => Promise.all([source.close(), destination.close()]));

const options = {
  signal: new AbortController().signal,
  workDir: os.tmpdir(),
  retry: { attempts: 2, baseMs: 1, maxMs: 2 },
};
const from = () => ({ name: 'src', remoteURL: source.url, image: 'team/app:1.0' });
const to = () => ({ name: 'dst', remoteURL: destination.url, image: 'mirror/app:1.0' });
const copy = (verify?: boolean) =>
  copyImage({ ...options, ...(verify !== undefined && { verify }), source: from(), destination: to() });

/** The blobs of the destination, which the test takes some of away behind its manifests. */
function stored() {
  const repository = destination.contents.get('mirror/app');
  if (!repository) throw new Error('nothing was copied');
  return repository;
}

describe('a repeated copy whose destination lost blobs', () => {
  it('sends each of them again with verify: config, layers of every platform, and of the signature', async () => {
    await seedImage(source, 'team/app', '1.0', { layers: 2 });
    await copy();
    const digests = [...stored().blobs.keys()];
    expect(digests.length).toBeGreaterThan(5);
    for (const digest of digests) {
      stored().blobs.delete(digest);
      expect(await copy(true)).toMatchObject({
        blobs: { copied: 1, existed: digests.length - 1, mounted: 0 },
        repaired: { blobs: 1, manifests: 0 },
      });
      expect(stored().blobs.has(digest)).toBe(true);
    }
  });

  it('trusts the manifest without verify, and looks up no blob', async () => {
    await seedImage(source, 'team/app', '1.0');
    await copy();
    stored().blobs.clear();
    destination.requests.length = 0;
    expect((await copy()).blobs.copied).toBe(0);
    expect(destination.count('HEAD', /\/blobs\//)).toBe(0);
  });

  it('writes nothing if the destination is complete', async () => {
    await seedImage(source, 'team/app', '1.0');
    await copy();
    destination.requests.length = 0;
    expect((await copy(true)).blobs.copied).toBe(0);
    expect(destination.count('PUT') + destination.count('POST')).toBe(0);
  });

  it('finds lost children of an index, and a lost root that its tag still names', async () => {
    const { children, digest } = await seedImage(source, 'team/app', '1.0');
    await copy();
    for (const lost of [...children, digest]) {
      stored().manifests.delete(lost);
      const { repaired } = await copy(true);
      // A registry without the root has no tag either: nothing says that it ever had the image.
      expect(repaired).toEqual(lost === digest ? undefined : { blobs: 0, manifests: 1 });
      expect(stored().manifests.has(lost)).toBe(true);
    }
  });

  it('repairs nothing if the destination is complete, or the artifact is new', async () => {
    await seedImage(source, 'team/app', '1.0');
    expect(await copy(true)).not.toHaveProperty('repaired');
    expect(await copy(true)).not.toHaveProperty('repaired');
    await seedImage(source, 'team/app', '1.0', { layers: 3 });
    expect(await copy(true)).not.toHaveProperty('repaired');
  });

  it('counts as copied in a batch, although no manifest was written', async () => {
    await seedImage(source, 'team/app', '1.0');
    await copy();
    stored().blobs.delete([...stored().blobs.keys()][0] ?? '');
    const open = async ({ session }: Parameters<Parameters<typeof copyBatch>[1]>[0]) => ({
      items: [
        {
          source: 'team/app:1.0',
          target: 'mirror/app:1.0',
          open: async () => ({
            source: registrySource(session.repository(from(), 'pull')),
            destination: registrySink(session.repository(to(), 'pull,push')),
          }),
        },
      ],
      warnings: [],
    });
    const batch = () => copyBatch({ ...options, verify: true }, open);
    expect(await batch()).toMatchObject({
      items: { copied: 1, unchanged: 0 },
      repaired: { blobs: 1, manifests: 0 },
    });
    const again = await batch();
    expect(again.items).toMatchObject({ copied: 0, unchanged: 1 });
    expect(again).not.toHaveProperty('repaired');
  });
});
