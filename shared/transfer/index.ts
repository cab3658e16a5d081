/** Moves artifacts between registries by digest: the OCI client, the image copier and the closed set of failures. */

export {
  type Batch,
  BatchError,
  type BatchItem,
  type BatchItems,
  type BatchResult,
  copyBatch,
} from './batch/copy-batch.ts';
export { matchesGlob } from './batch/glob.ts';
export { selectTags } from './batch/tag-list.ts';
export type { TagSelection } from './batch/tag-selection.ts';
export { type ExportItem, type ExportResult, exportBundle } from './bundle/export-bundle.ts';
export {
  type BundleDestination,
  type Imported,
  type ImportedItem,
  importBundle,
} from './bundle/import-bundle.ts';
export { type Bundle, readBundle } from './bundle/read-bundle.ts';
export { readPrivateKey, readPublicKey, signBytes } from './bundle/signature.ts';
export type {
  BlobSink,
  BlobSource,
  ContentSink,
  ContentSource,
  OpenBlob,
  Referrer,
  Stored,
} from './content/content.ts';
export { parsePlatforms, platformSubset } from './content/platform-subset.ts';
export { type BlobReading, blobContent } from './copy/blob-content.ts';
export { type Comparison, compareArtifact } from './copy/compare-artifact.ts';
export { copyArtifact, type Ends } from './copy/copy-artifact.ts';
export { type BlobCopier, type BlobOutcome, copyBlob } from './copy/copy-blob.ts';
export { type CopyRequest, copyImage } from './copy/copy-image.ts';
export type { Counts, Progress } from './copy/copy-progress.ts';
export type { CopyOptions, CopyResult, Opening } from './copy/in-session.ts';
export { putBlob } from './copy/put-blob.ts';
export { type EndpointCredentials, secretsOfEndpoint } from './credentials/credentials.ts';
export { exitCodes, type FailureReason, TransferError } from './errors/transfer-error.ts';
export { copyFile, type FileEnds } from './files/copy-file.ts';
export type { FileSink, FileSource } from './files/file.ts';
export type { FileLocation } from './files/location.ts';
export { ociFile, ociFileSink } from './files/oci-file.ts';
export { openWebSink, openWebSource } from './files/web.ts';
export type { ChartLocation, OpenedChart } from './helm/chart.ts';
export { type NamedImage, namedImage } from './helm/image-name.ts';
export { openChart } from './helm/open-chart.ts';
export { createAddressGuard } from './http/address-guard.ts';
export type { Timeouts } from './http/http-client.ts';
export type { RetryPolicy } from './http/retry.ts';
export { layoutSink } from './layout/layout-sink.ts';
export { type LayoutName, layoutSource } from './layout/layout-source.ts';
export { type Descriptor, type Manifest, parseManifest } from './oci/manifest.ts';
export { registrySink, registrySource } from './oci/registry-content.ts';
export type { Repository } from './oci/repository.ts';
export { type ResolveRequest, resolveDigest } from './oci/resolve-digest.ts';
export { type ImageLocation, openSession, type Session, type SessionOptions } from './oci/session.ts';
export type { Policy } from './policy/policy.ts';
export { authenticatedReasons, reachableReasons } from './probe/finding.ts';
export { type ProbeRequest, type ProbeResult, probeServer } from './probe/probe.ts';
export { digestOf, digestTag, isDigest } from './reference/digest.ts';
export { type ImageAddress, resolveAddress, type TlsSettings } from './reference/image-address.ts';
export {
  formatReference,
  type ImageName,
  parseImageName,
  parseReference,
  type Reference,
} from './reference/reference.ts';
export { openS3Sink, openS3Source } from './s3/s3.ts';
