import { createCipheriv, createHash, createPrivateKey, sign } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { pack } from 'tar-stream';
import { type Contents, digestOf, repositoryOf, storeManifest } from './contents.ts';

export interface SeedOptions {
  /** Such as `linux/amd64`; default that and `linux/arm64`. */
  platforms?: readonly string[];
  /** Layers per platform; default 2. */
  layers?: number;
  /** Content of each layer; default 64 KiB. */
  layerBytes?: number;
  /** True: a signature is attached as a referrer. Default true. */
  signature?: boolean;
}

/** The manifests and blobs that were pushed. */
export interface SeededImage {
  /** Of the index, which the tag stands for. */
  digest: string;
  children: string[];
  blobs: string[];
  signature?: string;
}

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
}

const ociManifest = 'application/vnd.oci.image.manifest.v1+json';
const ociIndex = 'application/vnd.oci.image.index.v1+json';

/** `length` bytes that look random and are the same for the same seed. */
export function pseudoRandom(seed: string, length: number): Buffer {
  const key = createHash('sha256').update(seed).digest();
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(length));
}

/** Puts content into one repository of a registry and remembers what it put. */
class Pusher {
  readonly blobs: string[] = [];
  private readonly contents: Contents;
  private readonly repository: string;

  constructor(contents: Contents, repository: string) {
    this.contents = contents;
    this.repository = repository;
  }

  blob(mediaType: string, bytes: Buffer): Descriptor {
    const digest = digestOf(bytes);
    repositoryOf(this.contents, this.repository).blobs.set(digest, bytes);
    this.blobs.push(digest);
    return { mediaType, digest, size: bytes.length };
  }

  manifest(body: { mediaType: string; [field: string]: unknown }, tag?: string): Descriptor {
    const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, ...body }));
    const digest = digestOf(bytes);
    storeManifest(this.contents, this.repository, tag ?? digest, bytes, body.mediaType);
    return { mediaType: body.mediaType, digest, size: bytes.length };
  }
}

/**
 * Pushes a multi-platform image into a registry: an index, one manifest per platform, layers that are real tars with
 * matching diff ids, and, if wanted, an Ed25519 signature over the index as an OCI referrer. Same arguments, same digests.
 */
export async function seedImage(
  registry: { contents: Contents },
  repository: string,
  tag: string,
  options: SeedOptions = {},
): Promise<SeededImage> {
  const { platforms = ['linux/amd64', 'linux/arm64'], layers = 2, layerBytes = 64 * 1024 } = options;
  const pusher = new Pusher(registry.contents, repository);
  const manifests = [];
  for (const platform of platforms) {
    const [os = 'linux', architecture = 'amd64'] = platform.split('/');
    const seed = `${repository}:${tag}:${platform}`;
    const manifest = await pushPlatform(pusher, seed, { os, architecture }, layers, layerBytes);
    manifests.push({ ...manifest, platform: { os, architecture } });
  }
  const index = pusher.manifest({ mediaType: ociIndex, manifests }, tag);
  const image = {
    digest: index.digest,
    children: manifests.map(({ digest }) => digest),
    blobs: pusher.blobs,
  };
  if (options.signature === false) return image;
  return { ...image, signature: pushSignature(pusher, repository, index).digest };
}

async function pushPlatform(
  pusher: Pusher,
  seed: string,
  platform: { os: string; architecture: string },
  count: number,
  length: number,
): Promise<Descriptor> {
  const layers: Descriptor[] = [];
  for (let layer = 0; layer < count; layer += 1) {
    const tar = await tarOf(`data/${layer}.bin`, pseudoRandom(`${seed}:${layer}`, length));
    layers.push(pusher.blob('application/vnd.oci.image.layer.v1.tar', tar));
  }
  const rootfs = { type: 'layers', diff_ids: layers.map(({ digest }) => digest) };
  const config = Buffer.from(JSON.stringify({ ...platform, config: {}, rootfs }));
  return pusher.manifest({
    mediaType: ociManifest,
    config: pusher.blob('application/vnd.oci.image.config.v1+json', config),
    layers,
  });
}

/** A tar of one file. Its time is fixed: the same content gives the same bytes. */
function tarOf(name: string, content: Buffer): Promise<Buffer> {
  const archive = pack();
  archive.entry({ name, mode: 0o644, mtime: new Date(0) }, content);
  archive.finalize();
  return buffer(archive);
}

/** The DER prefix of an Ed25519 private key (RFC 8410): the 32 bytes of the seed follow it. */
const keyPrefix = Buffer.from('302e020100300506032b657004220420', 'hex');

function pushSignature(pusher: Pusher, repository: string, subject: Descriptor): Descriptor {
  const critical = {
    identity: { 'docker-reference': repository },
    image: { 'docker-manifest-digest': subject.digest },
    type: 'cosign container image signature',
  };
  const payload = Buffer.from(JSON.stringify({ critical, optional: null }));
  const der = Buffer.concat([keyPrefix, pseudoRandom('signing key', 32)]);
  const signature = sign(null, payload, createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
  const layer = pusher.blob('application/vnd.dev.cosign.simplesigning.v1+json', payload);
  return pusher.manifest({
    mediaType: ociManifest,
    artifactType: 'application/vnd.dev.cosign.artifact.sig.v1+json',
    config: pusher.blob('application/vnd.oci.empty.v1+json', Buffer.from('{}')),
    layers: [
      { ...layer, annotations: { 'dev.cosignproject.cosign/signature': signature.toString('base64') } },
    ],
    subject,
  });
}
