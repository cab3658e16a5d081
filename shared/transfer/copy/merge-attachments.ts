import { canonicalJson, isRecord } from '#shared/base/meta';
import { type Manifest, maxManifestBytes, ociIndex, parseManifest } from '../content/manifest.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { digestOf, sharedTagKind } from '../reference/digest.ts';

/** What to do with a tag of the destination that holds another attachment. */
export type AttachmentMerge =
  /** The tag includes all of it. */
  | { action: 'keep' }
  /** Both cannot share the tag: it is left unchanged. `why` is for a message. */
  | { action: 'conflict'; why: string }
  /** `manifest` includes both; `config` is its config, if it must be stored first. */
  | { action: 'put'; manifest: Manifest; config?: Buffer };

/** A layer of an image, or an entry of an index. */
interface Layer {
  digest: string;
  [field: string]: unknown;
}

const configTypes = [
  'application/vnd.oci.image.config.v1+json',
  'application/vnd.docker.container.image.v1+json',
];

/**
 * Merges the attachments of source and destination under one tag, as cosign adds a signature to others: the layers of both, the
 * destination's first. A layer is identified by digest, type and annotations, because two keys sign the same payload and the signature is
 * an annotation. SBOMs are not merged: cosign reads an SBOM only from an attachment with a single layer. Lists of referrers are united.
 */
export function mergeAttachments(tag: string, there: Manifest, added: Manifest): AttachmentMerge {
  if (sharedTagKind(tag) === 'referrers') return mergeLists(tag, there, added);
  const [ours, theirs] = [layersOf(there), layersOf(added)];
  if (ours === undefined || theirs === undefined)
    return { action: 'conflict', why: 'source and destination do not both have layers' };
  const known = new Set(ours.map(keyOf));
  // Deduplicated: a layer that the source repeats must not look like one that the destination has.
  const missing = [...new Map(theirs.map((layer) => [keyOf(layer), layer]))].flatMap(([key, layer]) =>
    known.has(key) ? [] : [layer],
  );
  if (missing.length === 0) return { action: 'keep' };
  const offered = new Set(theirs.map(keyOf));
  if (ours.every((layer) => offered.has(keyOf(layer)))) return { action: 'put', manifest: added };
  if (tag.endsWith('.sbom'))
    return { action: 'conflict', why: 'cosign supports only one SBOM per image under this tag' };
  return merged(tag, there, [...ours, ...missing]);
}

/** Unites two lists of referrers. A manifest that is no such list has the tag by chance, and is replaced as under any other tag. */
function mergeLists(tag: string, there: Manifest, added: Manifest): AttachmentMerge {
  const [ours, theirs] = [listOf(there), listOf(added)];
  if (ours === undefined) return { action: 'put', manifest: added };
  if (theirs === undefined)
    return { action: 'conflict', why: 'the tag lists referrers, but the source has no such list' };
  const known = new Set(ours.map(({ digest }) => digest));
  const missing = theirs.filter(({ digest }) => !known.has(digest));
  if (missing.length === 0) return { action: 'keep' };
  const bytes = Buffer.from(JSON.stringify({ ...bodyOf(there), manifests: [...ours, ...missing] }));
  return { action: 'put', manifest: bounded(tag, bytes, there) };
}

/** The raw entries of a list of referrers; undefined for any other manifest, such as an index with platforms. */
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

/** The config as cosign writes it: the layers are not compressed, so each digest is also its diff ID. */
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

/** The raw layers; undefined for an index. */
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
