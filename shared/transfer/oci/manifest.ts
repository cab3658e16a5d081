import { isRecord } from '#shared/meta';
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

/** A manifest or index: the bytes as the registry gave them, and what they refer to. */
export interface Manifest {
  digest: string;
  mediaType: string;
  bytes: Buffer;
  /** Manifests of an index; empty for an image. */
  children: Descriptor[];
  /** Config and layers of an image that have to be copied; empty for an index. */
  blobs: Descriptor[];
  /** Layers that may not be distributed and stay where their `urls` point. */
  foreign: Descriptor[];
  /** What this manifest is about, if it is a referrer. */
  subject?: string;
  /** As it appears in a list of referrers. */
  descriptor: Descriptor;
}

export const longestManifest = 4 * 1024 * 1024;
export const ociIndex = 'application/vnd.oci.image.index.v1+json';
const ociManifest = 'application/vnd.oci.image.manifest.v1+json';
const dockerList = 'application/vnd.docker.distribution.manifest.list.v2+json';
const dockerManifest = 'application/vnd.docker.distribution.manifest.v2+json';

const manifestTypes = [ociIndex, ociManifest, dockerList, dockerManifest];

/** Everything that is understood, for the Accept header. */
export const acceptedManifests = manifestTypes.join(', ');

/** True for the media types of images and indexes. */
export function isManifestType(mediaType: string): boolean {
  return manifestTypes.includes(mediaType);
}

const mostEntries = 10_000;

function bad(what: string, why: string): TransferError {
  return new TransferError('permanent', `The manifest ${what} cannot be copied: ${why}.`);
}

function parseDescriptor(value: unknown, what: string): Descriptor {
  if (!isRecord(value)) throw bad(what, 'a descriptor in it is no object');
  const { mediaType, digest, size, artifactType, annotations, urls } = value;
  if (typeof mediaType !== 'string' || typeof digest !== 'string' || !isDigest(digest)) {
    throw bad(what, 'a descriptor in it has no media type or no usable digest');
  }
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
    throw bad(what, `the size of ${digest} in it is no byte count`);
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
  if (value.length > mostEntries) throw bad(what, `it lists more than ${mostEntries} entries`);
  return value.map((entry) => parseDescriptor(entry, what));
}

/** True for layers under a licence that forbids mirroring them (Windows base layers): they carry `urls` instead. */
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
  if (!isRecord(parsed)) throw bad(what, 'it is no JSON object');
  return parsed;
}

function mediaTypeOf(parsed: Record<string, unknown>, contentType: string | undefined): string {
  if (typeof parsed.mediaType === 'string') return parsed.mediaType;
  const header = contentType?.split(';')[0]?.trim();
  if (header !== undefined && isManifestType(header)) return header;
  return Array.isArray(parsed.manifests) ? ociIndex : ociManifest;
}

/**
 * Reads a manifest. `what` names it in messages; `contentType` is the registry's header, used where the manifest does
 * not say itself what it is. Throws a permanent TransferError for what cannot be copied (Docker schema 1 among it).
 */
export function parseManifest(bytes: Buffer, what: string, contentType?: string, like?: string): Manifest {
  const parsed = parseJSON(bytes, what);
  if (parsed.schemaVersion === 1) {
    throw bad(
      what,
      'it is of the old Docker schema 1, which has no stable digest: have the image pushed anew with a current tool',
    );
  }
  const mediaType = mediaTypeOf(parsed, contentType);
  const isIndex = mediaType === ociIndex || mediaType === dockerList;
  if (!isManifestType(mediaType)) throw bad(what, `its media type "${mediaType.slice(0, 100)}" is not known`);
  if (parsed.schemaVersion !== 2) throw bad(what, 'it is no image manifest (it has no schemaVersion 2)');
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
