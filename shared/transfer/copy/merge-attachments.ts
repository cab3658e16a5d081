import { canonicalJson, isRecord } from '#shared/base/meta';
import { type Manifest, maxManifestBytes, ociIndex, parseManifest } from '../content/manifest.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { digestOf, sharedTagKind } from '../reference/digest.ts';

/** How an attachment of the source comes to a tag that has another one. */
export type AttachmentMerge =
  /** What is there has all of it. */
  | { action: 'keep' }
  /** Both cannot be under one tag: what is there stays, and `why` says what the source has. */
  | { action: 'conflict'; why: string }
  /** `manifest` has all of both; `config` is its config where that is to be stored first. */
  | { action: 'put'; manifest: Manifest; config?: Buffer };

/** Of an image, or an entry of an index. */
interface Layer {
  digest: string;
  [field: string]: unknown;
}

const configTypes = [
  'application/vnd.oci.image.config.v1+json',
  'application/vnd.docker.container.image.v1+json',
];

/**
 * Merges what a cosign tag of the destination holds with what the source has under it, as cosign adds a signature to others: the layers of both, those that
 * are there first. A layer is known by digest, type and annotations, because two keys sign the same payload, and the signature is an annotation. An
 * SBOM is not added to another one: cosign takes it from an attachment of one layer only. Under the tag of a list of referrers, the lists are merged.
 */
export function mergeAttachments(tag: string, there: Manifest, added: Manifest): AttachmentMerge {
  if (sharedTagKind(tag) === 'referrers') return mergeLists(tag, there, added);
  const [ours, theirs] = [layersOf(there), layersOf(added)];
  if (ours === undefined || theirs === undefined)
    return { action: 'conflict', why: 'one of the two is no list of layers' };
  const known = new Set(ours.map(keyOf));
  // Each once: repeated layers of a source must not look like layers that are there.
  const missing = [...new Map(theirs.map((layer) => [keyOf(layer), layer]))].flatMap(([key, layer]) =>
    known.has(key) ? [] : [layer],
  );
  if (missing.length === 0) return { action: 'keep' };
  const offered = new Set(theirs.map(keyOf));
  if (ours.every((layer) => offered.has(keyOf(layer)))) return { action: 'put', manifest: added };
  if (tag.endsWith('.sbom'))
    return { action: 'conflict', why: 'cosign keeps one SBOM of an image under this tag' };
  return merged(tag, there, [...ours, ...missing]);
}

/** An artifact that is no list has that tag by chance, and is replaced as under any other tag. */
function mergeLists(tag: string, there: Manifest, added: Manifest): AttachmentMerge {
  const [ours, theirs] = [listOf(there), listOf(added)];
  if (ours === undefined) return { action: 'put', manifest: added };
  if (theirs === undefined)
    return { action: 'conflict', why: 'it lists referrers, and what the source has is no such list' };
  const known = new Set(ours.map(({ digest }) => digest));
  const missing = theirs.filter(({ digest }) => !known.has(digest));
  if (missing.length === 0) return { action: 'keep' };
  const bytes = Buffer.from(JSON.stringify({ ...bodyOf(there), manifests: [...ours, ...missing] }));
  return { action: 'put', manifest: bounded(tag, bytes, there) };
}

/** The entries as they are written; undefined for what is no list of referrers, such as the index of an image for several platforms. */
function listOf(manifest: Manifest): Layer[] | undefined {
  const { manifests } = bodyOf(manifest);
  const isList = manifest.mediaType === ociIndex && Array.isArray(manifests) && manifests.every(isLayer);
  return isList && manifests.every(({ platform }) => platform == null) ? manifests : undefined;
}

function merged(tag: string, there: Manifest, layers: readonly Layer[]): AttachmentMerge {
  const { config: described, ...rest } = bodyOf(there);
  const isImage = isRecord(described) && configTypes.some((type) => type === described.mediaType);
  const config = isImage ? configOf(layers) : undefined;
  const descriptor =
    config && isImage
      ? { mediaType: described.mediaType, digest: digestOf(config), size: config.length }
      : described;
  const bytes = Buffer.from(JSON.stringify({ ...rest, config: descriptor, layers }));
  const manifest = bounded(tag, bytes, there);
  return { action: 'put', manifest, ...(config && { config }) };
}

function bounded(tag: string, bytes: Buffer, there: Manifest): Manifest {
  if (bytes.length > maxManifestBytes)
    throw new TransferError(
      'permanent',
      `The attachments of source and destination under tag ${tag} would be larger than 4 MiB together: remove signatures that nobody needs.`,
    );
  return parseManifest(bytes, `attachments under tag ${tag}`, there.mediaType, there.digest);
}

/** What cosign writes: an image of layers that are not compressed, so that each is its own diff ID. */
function configOf(layers: readonly Layer[]): Buffer {
  const created = '0001-01-01T00:00:00Z';
  return Buffer.from(
    JSON.stringify({
      architecture: '',
      created,
      history: layers.map(() => ({ created })),
      os: '',
      rootfs: { type: 'layers', diff_ids: layers.map(({ digest }) => digest) },
      config: {},
    }),
  );
}

/** The layers as they are written; undefined for an index. */
function layersOf(manifest: Manifest): Layer[] | undefined {
  const { layers } = bodyOf(manifest);
  return Array.isArray(layers) && layers.every(isLayer) ? layers : undefined;
}

function isLayer(value: unknown): value is Layer {
  return isRecord(value) && typeof value.digest === 'string';
}

function bodyOf({ bytes }: Manifest): Record<string, unknown> {
  const body: unknown = JSON.parse(bytes.toString('utf8'));
  return isRecord(body) ? body : {};
}

function keyOf({ digest, mediaType, annotations }: Layer): string {
  return canonicalJson([digest, mediaType ?? null, isRecord(annotations) ? annotations : {}]);
}
