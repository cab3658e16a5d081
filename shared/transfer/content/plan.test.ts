import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Registry, startRegistry } from '../../local/registry/index.ts';
import { registrySource } from '../oci/registry-content.ts';
import { openSession, type Session } from '../oci/session.ts';
import { digestOf } from '../reference/digest.ts';
import { ociIndex } from './manifest.ts';
import { planCopy } from './plan.ts';

const image = 'application/vnd.oci.image.manifest.v1+json';
const signal = new AbortController().signal;
let registry: Registry;
let session: Session;

beforeEach(async () => {
  registry = await startRegistry();
  session = openSession();
  registry.contents.set('a', { blobs: new Map(), manifests: new Map(), tags: new Map() });
});
afterEach(async () => {
  session.close();
  await registry.close();
});

/** Puts a manifest there as it is, also one that a registry would refuse. */
function address(mediaType: string, fields: object): { mediaType: string; digest: string; size: number } {
  const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, ...fields }));
  const digest = digestOf(bytes);
  const repository = registry.contents.get('a');
  repository?.manifests.set(digest, { bytes, mediaType, digest, blobs: [], children: [] });
  repository?.tags.set('1', digest);
  return { mediaType, digest, size: bytes.length };
}

function plan() {
  const repository = session.repository({ name: 'src', remoteURL: registry.url, image: 'a:1' }, 'pull');
  return planCopy(registrySource(repository), signal);
}

const blob = { mediaType: 'application/octet-stream', digest: digestOf(Buffer.from('x')), size: 1 };

describe('the plan of a copy', () => {
  it('reads a manifest once, however often it is listed', async () => {
    const child = address(image, { config: blob });
    address(ociIndex, { manifests: Array.from({ length: 50 }, () => child) });
    expect((await plan()).manifests).toHaveLength(2);
    expect(registry.count('GET', new RegExp(`manifests/${child.digest}`))).toBe(1);
  });

  it('copies other content that an index lists as blobs, as for build caches', async () => {
    const layer = { mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip', digest: blob.digest, size: 1 };
    address(ociIndex, { manifests: [layer] });
    expect((await plan()).blobs).toEqual([layer]);
  });

  it('fails if a manifest that an index lists does not exist', async () => {
    address(ociIndex, { manifests: [{ mediaType: image, digest: blob.digest, size: 1 }] });
    await expect(plan()).rejects.toThrow('lists manifest');
  });
});
