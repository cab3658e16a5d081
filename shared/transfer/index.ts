/** Moves artifacts between registries by digest: the OCI client, the image copier and the closed set of failures. */

export { type EndpointCredentials, secretsOfEndpoint } from './auth/credentials.ts';
export { type BlobCopier, type BlobOutcome, copyBlob } from './copy/copy-blob.ts';
export { type CopyRequest, type CopyResult, copyImage } from './copy/copy-image.ts';
export type { Counts, Progress } from './copy/tally.ts';
export type { RetryPolicy } from './http/retry.ts';
export type { Timeouts } from './http/wire.ts';
export { maskSecrets } from './mask.ts';
export { type BlobReading, blobContent } from './oci/blob-content.ts';
export { digestOf, digestTag, isDigest } from './oci/digest.ts';
export { type Descriptor, type Manifest, parseManifest } from './oci/manifest.ts';
export { putBlob } from './oci/put-blob.ts';
export {
  formatReference,
  type ImageName,
  parseImageName,
  parseReference,
  type Reference,
} from './oci/reference.ts';
export type { Repository } from './oci/repository.ts';
export { type ResolveRequest, resolveDigest } from './oci/resolve-digest.ts';
export { type ImageLocation, openSession, type Session, type SessionOptions } from './oci/session.ts';
export { type Place, resolvePlace, type TlsSettings } from './place.ts';
export { exitCodes, type FailureReason, TransferError } from './transfer-error.ts';
