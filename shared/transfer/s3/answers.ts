import type { IncomingHttpHeaders } from 'node:http';
import type { Advice } from '../http/file-failures.ts';
import { elements, rootOf, textOf } from '../http/xml.ts';

/** The error in the body of a response. */
export interface S3Error {
  code: string;
  message: string;
  region: string | undefined;
}

/** A part of an unfinished multipart upload. */
export interface StoredPart {
  number: number;
  size: number;
  etag: string;
}

/** The error in a body, which may come with status 200; undefined if there is none. */
export function s3Error(bytes: Uint8Array): S3Error | undefined {
  const root = rootOf(bytes);
  const code = root?.name === 'Error' ? textOf(root, 'Code') : undefined;
  if (code === undefined) return undefined;
  return { code, message: textOf(root, 'Message') ?? '', region: textOf(root, 'Region') };
}

/** The upload ID in the response to CreateMultipartUpload. */
export function uploadIdOf(bytes: Uint8Array): string | undefined {
  return textOf(rootOf(bytes), 'UploadId');
}

/** The ETag in the response to CopyObject, UploadPartCopy or CompleteMultipartUpload. */
export function etagOf(bytes: Uint8Array): string | undefined {
  return textOf(rootOf(bytes), 'ETag');
}

/** The newest unfinished upload of exactly this key in the response to ListMultipartUploads. */
export function newestUpload(bytes: Uint8Array, key: string): string | undefined {
  const uploads = elements(rootOf(bytes), 'Upload').filter((upload) => textOf(upload, 'Key') === key);
  const newest = uploads.sort((a, b) =>
    (textOf(a, 'Initiated') ?? '') < (textOf(b, 'Initiated') ?? '') ? 1 : -1,
  )[0];
  return textOf(newest, 'UploadId');
}

/** The parts in a response to ListParts, and the marker of the next page. */
export function partsOf(bytes: Uint8Array): { parts: StoredPart[]; next: string | undefined } {
  const root = rootOf(bytes);
  const parts = elements(root, 'Part').flatMap((part) => {
    const [number, size, etag] = ['PartNumber', 'Size', 'ETag'].map((name) => textOf(part, name));
    return etag === undefined ? [] : [{ number: Number(number), size: Number(size), etag }];
  });
  const isCut = textOf(root, 'IsTruncated') === 'true';
  return { parts, next: isCut ? textOf(root, 'NextPartNumberMarker') : undefined };
}

/** The body of CompleteMultipartUpload. */
export function completion(etags: readonly string[]): Buffer {
  const escaped = (text: string) => text.replace(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`);
  const parts = etags.map(
    (etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escaped(etag)}</ETag></Part>`,
  );
  return Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
}

const wrongKeys: Advice = {
  reason: 'auth',
  text: 'it refused the keys: check accessKeyID, secretAccessKey and sessionToken in the Secret of the Endpoint',
};
const retryable = (text: string): Advice => ({ reason: 'retryable', text });
/** Codes whose status alone would mislead (docs.aws.amazon.com, API_Error). */
const adviceOf: Readonly<Record<string, Advice>> = {
  AuthorizationHeaderMalformed: {
    reason: 'config',
    text: 'it requires another region: set the key region in the Secret of the Endpoint',
  },
  BadDigest: retryable('the bytes it received differ from those sent: check the network'),
  ExpiredToken: { reason: 'auth', text: 'the session token has expired: renew the Secret of the Endpoint' },
  IncompleteBody: retryable('it did not receive all bytes: check the network'),
  InternalError: retryable('it has an internal problem: retry later'),
  InvalidAccessKeyId: wrongKeys,
  InvalidObjectState: { reason: 'permanent', text: 'the object is archived: restore it first' },
  InvalidToken: wrongKeys,
  NoSuchBucket: { reason: 'config', text: 'the bucket does not exist: check remoteURL of the Endpoint' },
  NoSuchUpload: retryable('the upload no longer exists: another client has ended it'),
  QuotaExceeded: retryable('its quota is used up: free some space'),
  RequestTimeTooSkewed: { reason: 'config', text: 'the clocks of worker and storage differ: set them right' },
  RequestTimeout: retryable('it did not receive the request in time: check the network'),
  SignatureDoesNotMatch: wrongKeys,
  SlowDown: retryable('it limits the rate of requests: retry later'),
  TokenRefreshRequired: wrongKeys,
  XAmzContentSHA256Mismatch: retryable('the bytes it received differ from those sent: check the network'),
  XMinioStorageFull: retryable('its storage is full: free some space'),
};

/** Advice for AWS's 301 without a Location: the bucket is in another region than the host. */
function wrongRegionAdvice({ 'x-amz-bucket-region': named }: IncomingHttpHeaders): Advice {
  const region =
    typeof named === 'string' && /^[a-z0-9-]{1,40}$/.test(named) ? `region ${named}` : 'another region';
  const fix = 'set remoteURL of the Endpoint to s3://bucket, or to the host of that region';
  return { reason: 'config', text: `the bucket is in ${region}: ${fix}` };
}

/** Explains the body of a failure. */
export function explainFailure(
  status: number,
  bytes: Uint8Array,
  headers: IncomingHttpHeaders = {},
): { quote: string; advice?: Advice } | undefined {
  const error = s3Error(bytes);
  const elsewhere = status === 301 && headers.location === undefined ? wrongRegionAdvice(headers) : undefined;
  if (error === undefined) return elsewhere && { quote: '', advice: elsewhere };
  const { code, message } = error;
  const advice = elsewhere ?? (Object.hasOwn(adviceOf, code) ? adviceOf[code] : undefined);
  return { quote: message === '' ? code : `${code}: ${message}`, ...(advice && { advice }) };
}
