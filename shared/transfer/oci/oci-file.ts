import path from 'node:path';
import type { FileSink, FileSource } from '../content/file.ts';
import { empty, emptyConfig, layerOf, manifestOf } from '../content/file-artifact.ts';
import type { Descriptor, Manifest } from '../content/manifest.ts';
import { putBlob } from '../content/put-blob.ts';
import { createSpool } from '../content/spool.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { type RetryPolicy, withRetries } from '../http/retry.ts';
import { sharedTagKind } from '../reference/digest.ts';
import type { Repository } from './repository.ts';

/** Returns the single file of an OCI artifact, stored as its only layer, as ORAS does. */
export function ociFile(repository: Repository): FileSource {
  const label = labelOf(repository);
  let found: Promise<Descriptor> | undefined;
  const layer = (signal: AbortSignal): Promise<Descriptor> => {
    found ??= fileOf(repository, label, signal);
    return found;
  };
  return {
    label,
    url: `${repository.address.origin}/${repository.address.repository}`,

    async stat(signal) {
      const { size, digest, mediaType } = await layer(signal);
      return { size, mediaType, validator: `"${digest}"`, digest, proven: true };
    },

    async open(offset, _validator, signal, reusesBuffers) {
      const { digest, size, mediaType } = await layer(signal);
      const {
        start,
        size: total = size,
        stream,
      } = await repository.openBlob(digest, offset, signal, reusesBuffers);
      return { start, stream, bounded: true, info: { size: total, mediaType } };
    },
  };
}

/** Returns a FileSink that stores a file as an OCI artifact: empty config, the file as its layer, its name as annotation. Deterministic. */
export function ociFileSink(repository: Repository, folder: string, retry: RetryPolicy): FileSink {
  const label = labelOf(repository);
  return {
    label,
    readBack: ociFile(repository),

    async head(signal, verify = false) {
      const manifest = await repository.manifest(referenceOf(repository), signal);
      const [layer, ...more] = manifest === undefined ? [] : layersOf(manifest);
      if (layer === undefined || more.length > 0 || !layer.digest.startsWith('sha256:')) return undefined;
      if (verify && !(await hasBlobs(manifest, repository, signal))) return undefined;
      return { size: layer.size, digest: layer.digest, mediaType: layer.mediaType };
    },

    async put(upload, signal) {
      const spool = createSpool(path.join(folder, 'file'));
      try {
        // A registry requires the digest first: a file of unknown digest is spooled.
        const { size, digest } = upload;
        const isKnown = size !== undefined && digest !== undefined;
        if (!isKnown) await spool.fill(upload.content(signal));
        const identity = isKnown ? { size, digest } : upload.identity();
        const layer = layerOf(upload, identity);
        if (!(await repository.hasBlob(layer, signal))) {
          const body = () => (isKnown ? upload.content(signal) : spool.read());
          await withRetries({ policy: retry, signal }, () => repository.upload(layer, body, signal));
        } else if (isKnown) for await (const _ of upload.content(signal));
        await putBlob(repository, empty, emptyConfig, retry, signal);
        await putManifest(repository, manifestOf(layer), label, signal);
        return [];
      } finally {
        await spool.close();
      }
    },
  };
}

async function hasBlobs(
  manifest: Manifest | undefined,
  repository: Repository,
  signal: AbortSignal,
): Promise<boolean> {
  for (const blob of manifest?.blobs ?? []) if (!(await repository.hasBlob(blob, signal))) return false;
  return true;
}

function labelOf({ address: { host, repository, tag, digest } }: Repository): string {
  const version = digest === undefined ? `:${tag ?? 'latest'}` : `@${digest}`;
  return `file in ${host}/${repository}${version}`;
}

function referenceOf({ address: { tag, digest } }: Repository): string {
  return digest ?? tag ?? 'latest';
}

function layersOf({ blobs }: Manifest): Descriptor[] {
  return blobs.slice(1);
}

async function fileOf(repository: Repository, label: string, signal: AbortSignal): Promise<Descriptor> {
  const manifest = await repository.manifest(referenceOf(repository), signal);
  if (manifest === undefined) {
    const { host, repository: name } = repository.address;
    throw new TransferError(
      'permanent',
      `There is no artifact ${referenceOf(repository)} in repository ${name} of registry ${host}: check spec.path.`,
    );
  }
  const [layer, ...more] = layersOf(manifest);
  const isOne = layer !== undefined && more.length === 0 && manifest.foreign.length === 0;
  if (isOne && layer.digest.startsWith('sha256:')) return layer;
  if (isOne) {
    const message = `The ${label} is stored under ${layer.digest.slice(0, 20)}…: only files under SHA-256 can be moved.`;
    throw new TransferError('permanent', message);
  }
  const has = manifest.children.length > 0 ? 'an index of images' : `${manifest.blobs.length - 1} layers`;
  throw new TransferError(
    'config',
    `The ${label} is not an artifact with one file: it has ${has}. Images are moved by artifacts of type oci.`,
  );
}

async function putManifest(
  repository: Repository,
  manifest: Manifest,
  label: string,
  signal: AbortSignal,
): Promise<void> {
  const { tag = 'latest', digest, host, repository: name } = repository.address;
  if (digest !== undefined && digest !== manifest.digest)
    throw new TransferError(
      'config',
      `The destination requires ${digest}, but the ${label} gets ${manifest.digest}: name a tag in spec.override.`,
    );
  if (digest === undefined && sharedTagKind(tag) !== undefined)
    await mustBeFree(repository, tag, manifest, signal);
  await repository.putManifest(digest ?? tag, manifest, signal);
  const found = await repository.head(digest ?? tag, signal);
  if (found === manifest.digest) return;
  const message = `Tag ${tag} in ${host}/${name} is not ${manifest.digest} although it was just written: another client writes this tag, or the registry lost it.`;
  throw new TransferError('retryable', message);
}

/** Throws if the tag holds attachments of an image: a file must not replace them. */
async function mustBeFree(
  { address, head }: Repository,
  tag: string,
  { digest }: Manifest,
  signal: AbortSignal,
): Promise<void> {
  const found = await head(tag, signal);
  if (found === undefined || found === digest) return;
  const message = `Tag ${tag} in ${address.host}/${address.repository} already holds ${found}, and was left unchanged: signatures, SBOMs and lists of referrers use such tags. Choose another tag in spec.override.`;
  throw new TransferError('config', message);
}
