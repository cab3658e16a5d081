import { randomBytes } from 'node:crypto';
import {
  type Descriptor,
  digestOf,
  type Manifest,
  openSession,
  parseManifest,
  putBlob,
  registrySink,
} from '#shared/transfer';

/** What is copied: an image of random layers, an index of such images with a signature and an SBOM for each manifest, or a repository of images. */
export interface Shape {
  layers: number;
  layerBytes: number;
  /** The number of images in the index; absent: one image, without index and referrers. */
  platforms?: number;
  /** The number of images in the repository, with the tags 1 and so on. */
  tags?: number;
}

const oci = 'application/vnd.oci';
const attached = ['application/vnd.dev.cosign.artifact.sig.v1+json', 'application/spdx+json'];
const attachedBytes = 4096;

/** Stores it in the repository `name` of the registry at `host`, under the tag 1. Resolves with the digests of all its manifests. */
export async function storeImages(host: string, name: string, shape: Shape): Promise<string[]> {
  const { signal } = new AbortController();
  const session = openSession();
  const repository = session.repository(
    { name: 'seed', remoteURL: `http://${host}`, image: name },
    'pull,push',
  );
  const { ensureReferrers: keepReferrers } = registrySink(repository);
  const stored: string[] = [];

  async function blob(mediaType: string, bytes: Buffer): Promise<Descriptor> {
    const descriptor = { mediaType, digest: digestOf(bytes), size: bytes.length };
    await putBlob(repository, descriptor, bytes, session.retry, signal);
    return descriptor;
  }

  async function manifest(content: object, tag?: string): Promise<Manifest> {
    const parsed = parseManifest(Buffer.from(JSON.stringify({ schemaVersion: 2, ...content })), name);
    await repository.putManifest(tag ?? parsed.digest, parsed, signal);
    stored.push(parsed.digest);
    return parsed;
  }

  async function image(variant: number, tag?: string): Promise<Manifest> {
    // One buffer with another beginning for each layer: random bytes for 10 GiB would take longer than their copy.
    const bytes = randomBytes(shape.layerBytes);
    const layers: Descriptor[] = [];
    for (let layer = 0; layer < shape.layers; layer += 1) {
      bytes.writeUInt32LE(layer);
      layers.push(await blob(`${oci}.image.layer.v1.tar`, bytes));
    }
    const rootfs = { type: 'layers', diff_ids: layers.map(({ digest }) => digest) };
    const config = JSON.stringify({ ...platformOf(variant), config: {}, rootfs });
    const parts = { config: await blob(`${oci}.image.config.v1+json`, Buffer.from(config)), layers };
    return manifest({ mediaType: `${oci}.image.manifest.v1+json`, ...parts }, tag);
  }

  async function attach({ descriptor: { mediaType, digest, size } }: Manifest): Promise<void> {
    for (const artifactType of attached) {
      const layers = [await blob(artifactType, randomBytes(attachedBytes))];
      const config = await blob(`${oci}.empty.v1+json`, Buffer.from('{}'));
      const subject = { mediaType, digest, size };
      const type = { mediaType: `${oci}.image.manifest.v1+json`, artifactType };
      await keepReferrers(digest, [await manifest({ ...type, config, layers, subject })], signal);
    }
  }

  try {
    if (shape.platforms === undefined) {
      for (let tag = 1; tag <= (shape.tags ?? 1); tag += 1) await image(tag, String(tag));
      return stored;
    }
    const images: Manifest[] = [];
    for (let variant = 0; variant < shape.platforms; variant += 1) images.push(await image(variant));
    const manifests = images.map(({ descriptor }, variant) => {
      const { mediaType, digest, size } = descriptor;
      return { mediaType, digest, size, platform: platformOf(variant) };
    });
    const root = await manifest({ mediaType: `${oci}.image.index.v1+json`, manifests }, '1');
    for (const subject of [root, ...images]) await attach(subject);
    return stored;
  } finally {
    session.close();
  }
}

/** Distinct for each variant, and known to no tool as the one it runs on. */
function platformOf(variant: number) {
  return { os: 'linux', architecture: 'arm', variant: `v${variant}` };
}

/** How many of the manifests the repository at `host` lacks. */
export async function missing(host: string, name: string, digests: readonly string[]): Promise<number> {
  const session = openSession();
  try {
    const repository = session.repository({ name: 'look', remoteURL: `http://${host}`, image: name }, 'pull');
    let count = 0;
    for (const digest of digests)
      if ((await repository.head(digest, new AbortController().signal)) === undefined) count += 1;
    return count;
  } finally {
    session.close();
  }
}
