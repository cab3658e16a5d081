import type { BodySource, ByteStream } from '../http/body.ts';
import type { Descriptor, Manifest } from './manifest.ts';

/** A repository of a registry. Blobs can be mounted from one repository into another one of the same `origin`. */
export interface RegistryPlace {
  /** `https://host[:port]`. */
  origin: string;
  repository: string;
}

/** The response to a request for a blob from an offset. */
export interface OpenBlob {
  /** The offset at which the stream starts: 0 if the source ignores offsets. */
  start: number;
  /** The size of the whole blob in bytes, if the source reports it. */
  size: number | undefined;
  stream: ByteStream;
}

/** A place to read blobs from. */
export interface BlobSource {
  /** For messages, as in "repository team/app of registry r.io". Contains no credentials. */
  readonly place: string;
  /** Set if the blobs are in a registry. */
  readonly registry?: RegistryPlace;
  /**
   * Opens a blob at `offset`; the caller verifies size and digest. With `reusesBuffers`, a chunk is valid only until the next one is
   * requested. Rejects with a TransferError.
   */
  openBlob(digest: string, offset: number, signal: AbortSignal, reusesBuffers?: boolean): Promise<OpenBlob>;
}

/** A manifest that refers to another one; `tag` is set if the referrer was found by its own tag instead of a list. */
export interface Referrer {
  manifest: Manifest;
  tag?: string;
}

/**
 * One artifact to copy, as a graph of manifests and blobs: an image in a registry or a layout, or a manifest created in memory for a file or
 * a chart. Each operation rejects with a TransferError.
 */
export interface ContentSource extends BlobSource {
  /** `host[:port]/path` of an artifact outside of registries, by which policies identify it. */
  readonly address?: string;
  /** The manifest that the tag or version names. Called once per copy. Rejects if it does not exist, and says what to check. */
  root(signal: AbortSignal): Promise<Manifest>;
  /**
   * A manifest by digest, verified; undefined if it does not exist. `mediaType` comes from the index that lists it: sources that store
   * manifests and blobs together need it to tell them apart.
   */
  manifest(digest: string, signal: AbortSignal, mediaType?: string): Promise<Manifest | undefined>;
  /**
   * The signatures, SBOMs and attestations of a manifest, or an empty list. `warn` is called for each that is skipped. Rejects if one of
   * them would be lost.
   */
  findReferrers(subject: Manifest, warn: (text: string) => void, signal: AbortSignal): Promise<Referrer[]>;
}

/** Opens the content of a blob from an offset; undefined if it can only be read from its beginning. */
export type BlobRest = (offset: number) => ReturnType<BodySource> | undefined;

/** The part of a descriptor that identifies a blob at a sink. */
export type BlobKey = Pick<Descriptor, 'digest' | 'size'>;

/** A place to write blobs to. Each operation rejects with a TransferError and may be repeated. */
export interface BlobSink {
  readonly place: string;
  readonly registry?: RegistryPlace;
  /** True if it has the blob, with the right size. */
  hasBlob(blob: BlobKey, signal: AbortSignal): Promise<boolean>;
  /** Mounts the blob from another repository of the same registry; false if that is not possible. */
  mount?(digest: string, from: string, signal: AbortSignal): Promise<boolean>;
  /**
   * Stores one blob, without retries. `body` returns the content from its beginning, anew for every attempt. Its last byte is sent only
   * after the digest is verified, otherwise it throws; a sink must discard a blob whose body has not ended. A chunk is valid only until the
   * next one is requested. `rest` returns the content from an offset, for a sink that can resume an interrupted upload. Resolves with true if
   * the destination itself reports this digest of what it has stored.
   */
  upload(blob: Descriptor, body: BodySource, signal: AbortSignal, rest?: BlobRest): Promise<boolean>;
}

/** The result of storing a manifest. */
export interface Stored {
  /** True if the destination lists it as a referrer of its subject already. */
  subjectSeen: boolean;
  /** The current digest of the reference, if the destination reports it. */
  digest?: string;
}

/** The destination of an artifact. Manifests arrive after the blobs and manifests that they list; the tag is the last write. */
export interface ContentSink extends BlobSink {
  /** The tag of the artifact; undefined if it is stored by digest only. */
  readonly tag?: string;
  /** The digest that the artifact must have, if the destination names one. */
  readonly digest?: string;
  /** The manifest under a tag or digest, read from the destination; undefined if there is none. */
  manifest(reference: string, signal: AbortSignal): Promise<Manifest | undefined>;
  /** The digest of the manifest under a tag or digest; undefined if there is none. */
  head(reference: string, signal: AbortSignal): Promise<string | undefined>;
  /** Stores a manifest under its digest or a tag. */
  putManifest(reference: string, manifest: Manifest, signal: AbortSignal): Promise<Stored>;
  /** Makes sure that stored `referrers` are listed for `subject` (a digest). Rejects if one would be lost. */
  ensureReferrers(subject: string, referrers: readonly Manifest[], signal: AbortSignal): Promise<void>;
}
