/** Transfers: the OCI, file and S3 clients, copies, policies, bundles, and their closed set of failures. */

export {
  type FileType,
  formatReference,
  hasFiles,
  type ImageName,
  isAwsStorage,
  isLoopback,
  movedName,
  registryURL,
} from '#shared/domain/address';
export { type Comparison, compareArtifact } from './artifact/compare-artifact.ts';
export { type CopyOptions, copyArtifact, type Ends } from './artifact/copy-artifact.ts';
export { parsePrivateKey, parsePublicKeys } from './attest/detached-signature.ts';
export { type Envelope, envelopeOf, signedBlob } from './attest/envelope.ts';
export type { Statement } from './attest/statement.ts';
export { type BatchComparison, compareBatch } from './batch/compare-batch.ts';
export {
  type Batch,
  BatchError,
  type BatchItem,
  type BatchItems,
  type BatchResult,
  batchFailure,
  batchItems,
  copyBatch,
  type ItemResult,
  sumCounts,
} from './batch/copy-batch.ts';
export { copyFolder, type FolderEnds } from './batch/copy-folder.ts';
export type { TagSelection } from './batch/select-tags.ts';
export { selectTags } from './batch/tag-list.ts';
export type { ExportItem, ExportOptions, ExportResult } from './bundle/export-bundle.ts';
export type { BundleDestination, ImportedItem } from './bundle/import-bundle.ts';
export { type Bundles, loadBundles } from './bundle/load-bundles.ts';
export type { Bundle } from './bundle/read-bundle.ts';
export type { Receipt } from './bundle/receipt.ts';
export type { BundleRecord } from './bundle/record.ts';
export { blobContent, readBlob } from './content/blob-content.ts';
export type {
  BlobSink,
  BlobSource,
  ContentSink,
  ContentSource,
  Referrer,
  Stored,
} from './content/content.ts';
export type { FileSink, FileSource } from './content/file.ts';
export type { FileFolder } from './content/folder.ts';
export { type Descriptor, type Manifest, parseManifest } from './content/manifest.ts';
export { placeName } from './content/own-manifests.ts';
export { parsePlatforms, platformSubset } from './content/platform-subset.ts';
export { putBlob } from './content/put-blob.ts';
export { type FileComparison, planFile, verifyFile } from './copy/compare-file.ts';
export { copyBlob } from './copy/copy-blob.ts';
export { copyFile, type FileEnds, type NamedFile } from './copy/copy-file.ts';
export type { Counts, Progress } from './copy/copy-progress.ts';
export { fileContent } from './copy/file-content.ts';
export { type CopyResult, inSession } from './copy/in-session.ts';
export { type EndpointCredentials, secretsOfEndpoint } from './credentials/credentials.ts';
export {
  EmptySelectionError,
  exitCodes,
  explainShortage,
  type FailureReason,
  TransferError,
  throwIfAborted,
} from './errors/transfer-error.ts';
export { localSink, localSource } from './files/local-file.ts';
export { openWebSink, openWebSource } from './files/web.ts';
export { openWebFolder } from './files/web-folder.ts';
export type { OpenedChart } from './helm/chart-content.ts';
export type { ChartLocation } from './helm/chart-repository.ts';
export { type NamedImage, parseNamedImage } from './helm/image-name.ts';
export { openChart } from './helm/open-chart.ts';
export { createAddressGuard } from './http/address-guard.ts';
export { clientCertificate } from './http/client-certificate.ts';
export type { Timeouts } from './http/http-client.ts';
export { matchesHost } from './http/reach.ts';
export type { RetryPolicy } from './http/retry.ts';
export { splitLayout } from './layout/image-layouts.ts';
export { layoutSink } from './layout/layout-sink.ts';
export { type LayoutName, layoutSource } from './layout/layout-source.ts';
export { ociFile, ociFileSink } from './oci/oci-file.ts';
export { registrySink, registrySource } from './oci/registry-content.ts';
export type { Repository } from './oci/repository.ts';
export { type ResolveRequest, resolveDigest } from './oci/resolve-digest.ts';
export {
  type ImageLocation,
  openSession,
  type Session,
  type SessionOptions,
  type TransferContext,
} from './oci/session.ts';
export { type NamedPolicy, type Policies, type Policy, policiesIn } from './policy/policy.ts';
export { authenticatedReasons, reachableReasons } from './probe/finding.ts';
export { type ProbeRequest, type ProbeResult, probeServer } from './probe/probe.ts';
export {
  entryName,
  landingEntry,
  landingName,
  parseImageName,
  parseReference,
  resolveAddress,
  type TlsSettings,
} from './reference/address.ts';
export { digestOf, isDigest } from './reference/digest.ts';
export { matchesGlob } from './reference/glob.ts';
export { openS3Sink, openS3Source } from './s3/s3.ts';
export { openS3Folder } from './s3/s3-folder.ts';
export type { FileLocation } from './servers/location.ts';
