import type { BodySource, ByteStream } from '../http/body.ts';
import type { Descriptor, Manifest } from './manifest.ts';

/** A repository of a registry. Blobs can be mounted from one repository into another one of the same `origin`. */
export interface RegistryPlace {
  /** `https://host[:port]`. */
  origin: string;
  repository: string;
}

/** The response to a request for a blob from an offset on. */
export interface OpenBlob {
  /** The offset at which the stream starts: 0 if the source ignores offsets. */
  start: number;
  /** The size of the whole blob in bytes, if the source reports it. */
  size: number | undefined;
  stream: ByteStream;
}

/** A place that blobs are read from. */
export interface BlobSource {
  /** For messages, as in "repository team/app of registry r.io". Without credentials. */
  readonly place: string;
  /** Set if the blobs lie in a registry. */
  readonly registry?: RegistryPlace;
  /**
   * The content of a blob from `offset` on; the caller verifies size and digest. With `lent`, a chunk may change when the next one is asked
   * for. Rejects with a TransferError.
   */
  openBlob(digest: string, offset: number, signal: AbortSignal, lent?: boolean): Promise<OpenBlob>;
}

/** A manifest that refers to another one; `tag` is set if it was found by a tag of its own and not in a list. */
export interface Referrer {
  manifest: Manifest;
  tag?: string;
}

/**
 * One artifact to copy, as a graph of manifests and blobs: an image in a registry or a layout, or a manifest made in memory for a file or a
 * chart. Each operation rejects with a TransferError.
 */
export interface ContentSource extends BlobSource {
  /** `host[:port]/path`, where it lies in no registry and has such a name: policies know it by that. */
  readonly address?: string;
  /** The manifest wanted, which a tag or a version names. Called once per copy. Rejects if it does not exist, and says what to check. */
  root(signal: AbortSignal): Promise<Manifest>;
  /**
   * A manifest by digest, verified; undefined if it does not exist. `mediaType` is what the index that lists it says: a source that keeps
   * manifests and blobs in one place cannot tell them apart otherwise.
   */
  manifest(digest: string, signal: AbortSignal, mediaType?: string): Promise<Manifest | undefined>;
  /**
   * The signatures, SBOMs and attestations of a manifest. `warn` is told what is left out. Rejects if one of them would be lost.
   * A source that has none resolves with an empty list.
   */
  findReferrers(subject: Manifest, warn: (text: string) => void, signal: AbortSignal): Promise<Referrer[]>;
}

/** The content of a blob from an offset on; undefined where it can only be read from its beginning. */
export type BlobRest = (offset: number) => ReturnType<BodySource> | undefined;

/** A blob, as far as a place that may hold it is asked. */
export type Sized = Pick<Descriptor, 'digest' | 'size'>;

/** A place that blobs are written to. Each operation rejects with a TransferError and may be repeated. */
export interface BlobSink {
  readonly place: string;
  readonly registry?: RegistryPlace;
  /** True if it holds the blob already, which is then not sent; not if what it holds has another size. */
  hasBlob(blob: Sized, signal: AbortSignal): Promise<boolean>;
  /** Takes the blob from another repository of the same registry; false if it cannot. */
  mount?(digest: string, from: string, signal: AbortSignal): Promise<boolean>;
  /**
   * Stores one blob, without retries: `body` gives the content from its beginning, for every attempt anew. The last byte of the body comes
   * only when its digest is verified, and the body throws if it is wrong; a sink must not keep a blob whose body has not ended. A chunk may
   * change when the next one is asked for. `rest` gives the content from an offset on, for a sink that holds what an attempt before has sent.
   */
  upload(blob: Descriptor, body: BodySource, signal: AbortSignal, rest?: BlobRest): Promise<void>;
}

/** The answer to a stored manifest. */
export interface Stored {
  /** True if it is listed as a referrer of its subject without further action. */
  subjectSeen: boolean;
  /** The digest under the reference now, if the destination reports it. */
  digest?: string;
}

/** Where an artifact is copied to. Manifests arrive after the blobs and the manifests that they list; the tag is the last write. */
export interface ContentSink extends BlobSink {
  /** The tag that names the artifact; undefined: it is stored by digest only. */
  readonly tag?: string;
  /** The digest that the artifact must have, if the destination names one. */
  readonly digest?: string;
  /** The manifest under a tag or digest, as it can be read at the destination; undefined if there is none. */
  manifest(reference: string, signal: AbortSignal): Promise<Manifest | undefined>;
  /** The digest of the manifest under a tag or digest; undefined if there is none. */
  head(reference: string, signal: AbortSignal): Promise<string | undefined>;
  /** Stores a manifest under its digest or a tag. */
  putManifest(reference: string, manifest: Manifest, signal: AbortSignal): Promise<Stored>;
  /** Makes sure that stored `referrers` are listed for `subject` (a digest). Rejects if one would be lost. */
  ensureReferrers(subject: string, referrers: readonly Manifest[], signal: AbortSignal): Promise<void>;
}
