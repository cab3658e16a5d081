import { createHash } from 'node:crypto';

/** A stored manifest, with what the referrers list needs to know of it. */
export interface StoredManifest {
  bytes: Buffer;
  mediaType: string;
  digest: string;
  subject?: string;
  artifactType?: string;
  annotations?: Record<string, string>;
  /** Digests of blobs and manifests it lists. */
  blobs: string[];
  children: string[];
}

export interface RepositoryContents {
  blobs: Map<string, Buffer>;
  manifests: Map<string, StoredManifest>;
  tags: Map<string, string>;
}

/** The contents of a registry, in memory. */
export type Contents = Map<string, RepositoryContents>;

/** A refusal in the terms of the distribution specification: HTTP status, error code, message. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** `sha256:<hex>` of the bytes; SHA-512 for an expected digest of that kind. */
export function digestOf(bytes: Uint8Array, expected = 'sha256:'): string {
  const algorithm = expected.startsWith('sha512:') ? 'sha512' : 'sha256';
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`;
}

/** The repository, made if it is not there yet. */
export function repositoryOf(contents: Contents, name: string): RepositoryContents {
  const known = contents.get(name);
  if (known) return known;
  const fresh: RepositoryContents = { blobs: new Map(), manifests: new Map(), tags: new Map() };
  contents.set(name, fresh);
  return fresh;
}

interface Descriptor {
  mediaType?: string;
  digest?: string;
  urls?: string[];
}

interface ManifestBody {
  mediaType?: string;
  artifactType?: string;
  annotations?: Record<string, string>;
  subject?: Descriptor;
  config?: Descriptor;
  layers?: Descriptor[];
  manifests?: Descriptor[];
}

const digestsOf = (list: Descriptor[]): string[] =>
  list.flatMap(({ digest, urls }) => (digest && !urls ? [digest] : []));

/** Stores a manifest under a tag or digest; refuses wrong digests and manifests whose content is not there. */
export function storeManifest(
  contents: Contents,
  name: string,
  reference: string,
  bytes: Buffer,
  contentType: string,
): StoredManifest {
  const repository = repositoryOf(contents, name);
  const stored = parse(bytes, contentType, reference);
  for (const blob of stored.blobs) {
    if (!repository.blobs.has(blob)) throw new Refusal(400, 'MANIFEST_BLOB_UNKNOWN', `blob ${blob} unknown`);
  }
  for (const child of stored.children) {
    if (!repository.manifests.has(child))
      throw new Refusal(400, 'MANIFEST_UNKNOWN', `manifest ${child} unknown`);
  }
  repository.manifests.set(stored.digest, stored);
  if (!reference.includes(':')) repository.tags.set(reference, stored.digest);
  return stored;
}

function parse(bytes: Buffer, contentType: string, reference: string): StoredManifest {
  let body: ManifestBody;
  try {
    body = JSON.parse(bytes.toString('utf8')) as ManifestBody;
  } catch {
    // The client has to mend its request; the parser's message would not help.
    throw new Refusal(400, 'MANIFEST_INVALID', 'the manifest is not JSON');
  }
  const digest = digestOf(bytes, reference);
  if (reference.includes(':') && reference !== digest)
    throw new Refusal(400, 'DIGEST_INVALID', `the content is ${digest}`);
  const artifactType = body.artifactType ?? body.config?.mediaType;
  return {
    bytes,
    digest,
    mediaType: body.mediaType ?? contentType,
    blobs: digestsOf([...(body.config ? [body.config] : []), ...(body.layers ?? [])]),
    children: digestsOf(body.manifests ?? []),
    ...(body.subject?.digest ? { subject: body.subject.digest } : {}),
    ...(artifactType ? { artifactType } : {}),
    ...(body.annotations ? { annotations: body.annotations } : {}),
  };
}

/** Descriptors of the manifests about `subject`, in the order they came. */
export function referrersOf(repository: RepositoryContents, subject: string): object[] {
  return [...repository.manifests.values()]
    .filter((manifest) => manifest.subject === subject)
    .map(({ mediaType, digest, bytes, artifactType, annotations }) => ({
      mediaType,
      digest,
      size: bytes.length,
      ...(artifactType ? { artifactType } : {}),
      ...(annotations ? { annotations } : {}),
    }));
}
