import { bytesText } from '#shared/base/errors';
import type { FileInfo, FileSink, FileSource, FileUpload } from '../content/file.ts';
import { TransferError } from '../errors/transfer-error.ts';
import type { Connections } from '../servers/connections.ts';
import type { FileLocation } from '../servers/location.ts';
import { webFile } from '../servers/web-file.ts';
import { ask, metadataOf, noBytes, type S3Object, s3Dialect, sendCheckingBody } from './bucket.ts';
import { MultipartUpload, type PartSender } from './multipart.ts';
import { openObject, unsupported } from './open-object.ts';
import { defaultPartBytes, PartBuffers, partBytes, splitIntoParts } from './parts.ts';

/** Bytes per server-side copy request: S3 accepts 5 GiB, but takes minutes for them. */
const rangeBytes = 512 * 1024 ** 2;

/** Opens an object of an S3-compatible storage for reading. Throws a config TransferError. */
export function openS3Source(location: FileLocation, connections: Connections): FileSource {
  const { object, storage } = openObject(location, connections);
  const { send, place, label } = object;
  const within = { storage, path: place.copySource };
  return { ...webFile(send, place.url, label, s3Dialect), within };
}

/**
 * Opens an object of an S3-compatible storage for writing. Small files are sent in one request, others in parts while they are read. The digest
 * is stored in the metadata `sha256`. `usual` is the size of parts in bytes. Throws a config TransferError.
 */
export function openS3Sink(
  location: FileLocation,
  connections: Connections,
  usual = defaultPartBytes,
): FileSink {
  const { object, storage } = openObject(location, connections);
  const { send, place, label } = object;
  const written = webFile(send, place.url, label, s3Dialect);

  async function head(signal: AbortSignal): Promise<FileInfo | undefined> {
    const info = await written.stat(signal);
    return info.size === undefined && info.validator === undefined ? undefined : info;
  }

  return {
    label,
    readBack: written,
    storage,
    head,

    async put(upload, signal) {
      await putContent(object, upload, usual, signal);
      const { size, digest } = upload.identity();
      const found = await head(signal);
      if (found?.size !== size) {
        const has = found === undefined ? 'does not exist' : 'has another size';
        const message = `The ${label} ${has} although ${bytesText(size)} were just written to it: another client writes it, or the storage lost it.`;
        throw new TransferError('retryable', message, { again: false });
      }
      if (found.digest === digest) return [];
      const kept =
        found.validator !== undefined &&
        (await copyWithin(object, place.copySource, found.validator, upload, signal));
      return kept
        ? []
        : [`the storage stores no digest of ${label}: without spec.sha256, every order copies it again`];
    },

    copyWithin: (path, validator, upload, signal) => copyWithin(object, path, validator, upload, signal),
  };
}

/** Copies an object server-side, or updates the metadata of the same object. False if the storage cannot. */
async function copyWithin(
  object: S3Object,
  path: string,
  validator: string,
  upload: FileUpload,
  signal: AbortSignal,
): Promise<boolean> {
  const { size, digest } = upload.identity();
  if (size <= rangeBytes) return copyObject(object, path, validator, metadataOf(upload, digest), signal);
  const multipart = await MultipartUpload.begin(object, { ...upload, digest }, signal);
  const starts = Array.from({ length: Math.ceil(size / rangeBytes) }, (_, index) => index * rangeBytes);
  const ranges = starts.map((from) => ({ from, to: Math.min(from + rangeBytes, size) - 1 }));
  try {
    await multipart.run(ranges, 1, multipart.sendRange({ path, validator }), signal);
  } catch (caught) {
    // The storage does not support copies of parts: the content can be sent instead.
    if (caught instanceof TransferError && caught.reason !== 'retryable') return false;
    throw caught;
  }
  return true;
}

async function putContent(
  object: S3Object,
  upload: FileUpload,
  usual: number,
  signal: AbortSignal,
): Promise<void> {
  const { size } = upload;
  const bytesOf = (number: number) => Math.min(partBytes(number, size, usual), Math.max(size ?? Infinity, 1));
  const buffers = new PartBuffers();
  const parts = splitIntoParts(upload.content(signal), bytesOf, buffers);
  try {
    const first = await parts.next();
    const second = await parts.next();
    if (first.done === true) return;
    if (second.done === true) {
      const { place, label } = object;
      const headers = metadataOf(upload, upload.identity().digest);
      const request = { method: 'PUT', url: place.url, headers, expect: [200], writing: true } as const;
      await ask(object, { ...request, activity: `writing ${label}` }, first.value, signal);
      return;
    }
    const multipart = await MultipartUpload.open(object, upload, signal);
    const all = chained([first.value, second.value], parts);
    const send: PartSender<Uint8Array<ArrayBuffer>> = async (part, number, sub) => {
      const etag = await multipart.sendBytes(part, number, sub);
      buffers.give(part);
      return etag;
    };
    await multipart.run(all, first.value.length, send, signal);
  } finally {
    await parts.return(undefined);
  }
}

async function* chained<T>(first: T[], rest: AsyncIterable<T>): AsyncGenerator<T> {
  for (let next = first.shift(); next !== undefined; next = first.shift()) yield next;
  yield* rest;
}

async function copyObject(
  object: S3Object,
  path: string,
  validator: string,
  metadata: Record<string, string>,
  signal: AbortSignal,
): Promise<boolean> {
  const { place, label } = object;
  const request = {
    method: 'PUT',
    url: place.url,
    headers: {
      ...metadata,
      'x-amz-copy-source': path,
      'x-amz-copy-source-if-match': validator,
      'x-amz-metadata-directive': 'REPLACE',
    },
    expect: [200, ...unsupported],
    writing: true,
    activity: `copying ${label} within the storage`,
  } as const;
  const copy = () => ask(object, request, noBytes, signal);
  const { status } = await sendCheckingBody(object, request.activity, copy, signal);
  return status === 200;
}
