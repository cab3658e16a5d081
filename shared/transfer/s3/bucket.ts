import { webcrypto } from 'node:crypto';
import { escapeName, type S3Place } from '#shared/domain/address';
import type { FileInfo, FileUpload } from '../content/file.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { inChunks } from '../http/body.ts';
import { type RetryPolicy, withRetries } from '../http/retry.ts';
import type { FileServer, ServerRequest } from '../servers/file-server.ts';
import { infoOf } from '../servers/response-info.ts';
import type { Dialect } from '../servers/web-file.ts';
import { explainFailure, s3Error } from './answers.ts';

/** One object of a storage and the client for it. */
export interface S3Object {
  send: FileServer;
  place: S3Place;
  /** For messages. */
  label: string;
  retry: RetryPolicy;
}

/** A response without a body, or with a buffered body. */
export interface Answer {
  status: number;
  bytes: Buffer;
  etag: string | undefined;
}

/** Returns the URL of the object with a query, whose values are escaped. */
export function withQuery(url: URL, query: Readonly<Record<string, string | number>>): URL {
  const result = new URL(url);
  result.search = Object.entries(query)
    .map(([name, value]) => `${name}=${escapeName(String(value))}`)
    .join('&');
  return result;
}

/** The body of a request that the storage may need minutes for; it makes the deadline of an upload apply. */
export const noBytes = new Uint8Array(0);

/** Sends a request with a buffered body, hashed off the main thread, or without a body. */
export async function ask(
  { send }: S3Object,
  request: Omit<ServerRequest, 'body' | 'length' | 'bodyHash'>,
  bytes: Uint8Array<ArrayBuffer> | undefined,
  signal: AbortSignal,
): Promise<Answer> {
  const body =
    bytes === undefined
      ? {}
      : {
          body: inChunks(bytes),
          length: bytes.length,
          bodyHash: Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes)).toString('hex'),
        };
  const answer = await send({ ...request, ...body }, signal);
  return { status: answer.status, bytes: answer.bytes, etag: answer.headers.etag };
}

/** Runs a request whose response may report an error with status 200, as long copies do. */
export async function sendCheckingBody(
  object: S3Object,
  what: string,
  operation: () => Promise<Answer>,
  signal: AbortSignal,
): Promise<Answer> {
  return withRetries({ policy: object.retry, signal }, async () => {
    const answer = await operation();
    if (answer.status !== 200 || s3Error(answer.bytes) === undefined) return answer;
    const { quote = '', advice } = explainFailure(200, answer.bytes) ?? {};
    const message = `The storage failed while ${what}: ${advice?.text ?? 'retry later'}. It reports: ${quote}.`;
    throw new TransferError(advice?.reason ?? 'retryable', message);
  });
}

/** The metadata stored with an object: its type, digest and source version. */
export function metadataOf(
  { mediaType, origin }: FileUpload,
  digest: string | undefined,
): Record<string, string> {
  return {
    'content-type': mediaType,
    ...(digest === undefined ? {} : { 'x-amz-meta-sha256': digest.replace('sha256:', '') }),
    ...(origin === undefined ? {} : { 'x-amz-meta-arc-origin': origin }),
  };
}

/** S3 has checksums and metadata, and uses If-Match instead of If-Range. */
export const s3Dialect: Dialect = {
  headers: { 'x-amz-checksum-mode': 'ENABLED' },
  guard: 'if-match',
  infoOf(headers) {
    const { 'x-amz-checksum-sha256': checksum, 'x-amz-meta-sha256': noted } = headers;
    const { 'x-amz-meta-arc-origin': origin } = headers;
    return {
      ...infoOf(headers),
      ...digestOf(checksum, noted),
      ...(typeof origin === 'string' ? { origin } : {}),
    };
  },
};

/** The checksum of a whole object is computed by the storage; a composite one ends in `-<number of parts>`. */
function digestOf(checksum: unknown, noted: unknown): Pick<FileInfo, 'digest' | 'proven'> {
  if (typeof checksum === 'string' && /^[A-Za-z0-9+/]{43}=$/.test(checksum))
    return { digest: `sha256:${Buffer.from(checksum, 'base64').toString('hex')}`, proven: true };
  return typeof noted === 'string' && /^[0-9a-f]{64}$/.test(noted) ? { digest: `sha256:${noted}` } : {};
}
