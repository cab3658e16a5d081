import { isRecord } from '#shared/base/meta';
import { TransferError } from '../errors/transfer-error.ts';
import { digestOf, isDigest } from '../reference/digest.ts';

/** A content descriptor of the OCI image specification. `size` in bytes. */
export interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  artifactType?: string;
  annotations?: Record<string, string>;
  urls?: string[];
}

/** A manifest or index: the exact bytes, and what they refer to. */
export interface Manifest {
  digest: string;
  mediaType: string;
  bytes: Buffer;
  /** Manifests of an index; empty for an image. */
  children: Descriptor[];
  /** Config and layers of an image, which are copied; empty for an index. */
  blobs: Descriptor[];
  /** Layers that may not be distributed; they stay at their `urls`. */
  foreign: Descriptor[];
  /** The digest of the manifest that this one refers to, if it is a referrer. */
  subject?: string;
  /** The entry of this manifest in a list of referrers. */
  descriptor: Descriptor;
}

export const maxManifestBytes = 4 * 1024 * 1024;
export const ociIndex = 'application/vnd.oci.image.index.v1+json';
export const ociManifest = 'application/vnd.oci.image.manifest.v1+json';
const dockerList = 'application/vnd.docker.distribution.manifest.list.v2+json';
const dockerManifest = 'application/vnd.docker.distribution.manifest.v2+json';

const manifestTypes = [ociIndex, ociManifest, dockerList, dockerManifest];

/** The supported media types, for the Accept header. */
export const acceptedManifests = manifestTypes.join(', ');

/** True for the media types of images and indexes. */
export function isManifestType(mediaType: string): boolean {
  return manifestTypes.includes(mediaType);
}

const maxEntries = 10_000;

function bad(what: string, why: string): TransferError {
  return new TransferError('permanent', `The manifest ${what} cannot be copied: ${why}.`);
}

function parseDescriptor(value: unknown, what: string): Descriptor {
  if (!isRecord(value)) throw bad(what, 'one of its descriptors is not an object');
  const { mediaType, digest, size, artifactType, annotations, urls } = value;
  if (typeof mediaType !== 'string' || typeof digest !== 'string' || !isDigest(digest)) {
    throw bad(what, 'one of its descriptors has no media type or no valid digest');
  }
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
    throw bad(what, `its descriptor of ${digest} has no valid size`);
  const strings = Array.isArray(urls) ? urls.filter((url) => typeof url === 'string') : [];
  return {
    mediaType,
    digest,
    size,
    ...(typeof artifactType === 'string' ? { artifactType } : {}),
    ...(isRecord(annotations) ? { annotations: onlyStrings(annotations) } : {}),
    ...(strings.length > 0 ? { urls: strings } : {}),
  };
}

function onlyStrings(value: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function parseList(value: unknown, what: string): Descriptor[] {
  if (!Array.isArray(value)) return [];
  if (value.length > maxEntries) throw bad(what, `it has more than ${maxEntries} entries`);
  return value.map((entry) => parseDescriptor(entry, what));
}

/** True for layers whose licence forbids copies (Windows base layers), which have `urls` instead. */
function isForeign({ mediaType }: Descriptor): boolean {
  return mediaType.includes('.foreign.') || mediaType.includes('.nondistributable.');
}

function parseJSON(bytes: Buffer, what: string): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(bytes.toString('utf8'));
  } catch (caught) {
    throw new TransferError('permanent', `The manifest ${what} cannot be copied: it is not JSON.`, {
      cause: caught,
    });
  }
  if (!isRecord(parsed)) throw bad(what, 'it is not a JSON object');
  return parsed;
}

function mediaTypeOf(parsed: Record<string, unknown>, contentType: string | undefined): string {
  if (typeof parsed.mediaType === 'string') return parsed.mediaType;
  const header = contentType?.split(';')[0]?.trim();
  if (header !== undefined && isManifestType(header)) return header;
  return Array.isArray(parsed.manifests) ? ociIndex : ociManifest;
}

/**
 * Rejects a document that is an image to some readers and an index to others, under the same digest (CVE-2021-41190). Some readers ignore
 * the case of field names.
 */
function rejectAmbiguousKind(parsed: Record<string, unknown>, what: string): void {
  const given = Object.keys(parsed).filter((name) => parsed[name] != null);
  const has = (wanted: string) => given.some((name) => name.toLowerCase() === wanted);
  const image = ['layers', 'config'].find(has);
  if (image !== undefined && has('manifests'))
    throw bad(what, `it has the manifests of an index and the ${image} of an image: do not trust it`);
}

/**
 * Parses a manifest. `what` names it in messages; `contentType` is the registry's header, for a manifest without a mediaType. Throws a
 * permanent TransferError for a manifest that cannot be copied, such as Docker schema 1.
 */
export function parseManifest(bytes: Buffer, what: string, contentType?: string, like?: string): Manifest {
  const parsed = parseJSON(bytes, what);
  if (parsed.schemaVersion === 1) {
    throw bad(
      what,
      'it uses the old Docker schema 1, which has no stable digest: push the image again with a current tool',
    );
  }
  const mediaType = mediaTypeOf(parsed, contentType);
  const isIndex = mediaType === ociIndex || mediaType === dockerList;
  if (!isManifestType(mediaType))
    throw bad(what, `its media type "${mediaType.slice(0, 100)}" is not supported`);
  if (parsed.schemaVersion !== 2) throw bad(what, 'it is not an image manifest (schemaVersion is not 2)');
  rejectAmbiguousKind(parsed, what);
  const config = isRecord(parsed.config) ? parseDescriptor(parsed.config, what) : undefined;
  if (!isIndex && config === undefined) throw bad(what, 'it has no config');
  const layers = isIndex ? [] : parseList(parsed.layers, what);
  const subject = isRecord(parsed.subject) ? parseDescriptor(parsed.subject, what).digest : undefined;
  const digest = digestOf(bytes, like);
  const artifactType = typeof parsed.artifactType === 'string' ? parsed.artifactType : config?.mediaType;
  const annotations = isRecord(parsed.annotations) ? onlyStrings(parsed.annotations) : undefined;
  return {
    digest,
    mediaType,
    bytes,
    children: isIndex ? parseList(parsed.manifests, what) : [],
    blobs: [...(config ? [config] : []), ...layers.filter((layer) => !isForeign(layer))],
    foreign: layers.filter(isForeign),
    ...(subject === undefined ? {} : { subject }),
    descriptor: {
      mediaType,
      digest,
      size: bytes.length,
      ...(artifactType === undefined ? {} : { artifactType }),
      ...(annotations === undefined ? {} : { annotations }),
    },
  };
}
