/** Moves artifacts between registries by digest: the OCI client, the image copier and the closed set of failures. */
export { type BlobReading, blobContent } from './blob-content.ts';
export { type BlobCopier, type BlobOutcome, copyBlob } from './copy-blob.ts';
export { type CopyRequest, type CopyResult, copyImage } from './copy-image.ts';
export { type EndpointCredentials, secretsOfEndpoint } from './credentials.ts';
export { digestOf, digestTag, isDigest } from './digest.ts';
export { type Descriptor, type Manifest, parseManifest } from './manifest.ts';
export { maskSecrets } from './mask.ts';
export { type Place, resolvePlace, type TlsSettings } from './place.ts';
export { mapBounded } from './pool.ts';
export { putBlob } from './put-blob.ts';
export {
  formatReference,
  type ImageName,
  parseImageName,
  parseReference,
  type Reference,
} from './reference.ts';
export type { Repository } from './repository.ts';
export { type ResolveRequest, resolveDigest } from './resolve-digest.ts';
export type { RetryPolicy } from './retry.ts';
export { type ImageLocation, openSession, type Session, type SessionOptions } from './session.ts';
export type { Counts, Progress } from './tally.ts';
export { exitCodes, type Reason, TransferError } from './transfer-error.ts';
export type { Timeouts } from './wire.ts';
