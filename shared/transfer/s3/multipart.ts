import { createHash } from 'node:crypto';
import { createSemaphore } from '#shared/base/async';
import type { FileUpload } from '../content/file.ts';
import { abortError, TransferError } from '../errors/transfer-error.ts';
import { completion, etagOf, newestUpload, partsOf, type StoredPart, uploadIdOf } from './answers.ts';
import {
  type Answer,
  ask,
  metadataOf,
  noBytes,
  type S3Object,
  sendCheckingBody,
  withQuery,
} from './bucket.ts';
import { maxParts, parallelParts } from './parts.ts';

const maxPages = 10;

/** Sends one part and resolves with its ETag. */
export type PartSender<T> = (part: T, number: number, signal: AbortSignal) => Promise<string>;

/**
 * A multipart upload. After a retryable failure its parts are kept, so that the next attempt sends only the missing ones; otherwise it is
 * aborted.
 */
export class MultipartUpload {
  readonly #object: S3Object;
  readonly #id: string;
  readonly #stored: ReadonlyMap<number, StoredPart>;

  private constructor(object: S3Object, id: string, stored: ReadonlyMap<number, StoredPart>) {
    this.#object = object;
    this.#id = id;
    this.#stored = stored;
  }

  /** Resumes the newest unfinished upload of the object, or starts one. */
  static async open(object: S3Object, upload: FileUpload, signal: AbortSignal): Promise<MultipartUpload> {
    const left = await unfinishedUpload(object, signal);
    const stored = left === undefined ? undefined : await storedParts(object, left, signal);
    if (left !== undefined && stored !== undefined) return new MultipartUpload(object, left, stored);
    return MultipartUpload.begin(object, upload, signal);
  }

  static async begin(object: S3Object, upload: FileUpload, signal: AbortSignal): Promise<MultipartUpload> {
    return new MultipartUpload(object, await begin(object, upload, signal), new Map());
  }

  /** Sends the parts concurrently and completes the object. Each part has at most `bytes`. */
  async run<T>(
    parts: AsyncIterable<T> | Iterable<T>,
    bytes: number,
    sendPart: PartSender<T>,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      const etags = await this.#sendAll(parts, bytes, sendPart, signal);
      await this.#complete(etags, signal);
    } catch (caught) {
      const mayPass = signal.aborted || (caught instanceof TransferError && caught.reason === 'retryable');
      // Best effort: storages can expire incomplete uploads (AbortIncompleteMultipartUpload).
      if (!mayPass) await this.#abort(signal).catch(() => undefined);
      throw caught;
    }
  }

  /** Sends the bytes of one part, unless an earlier attempt did. The ETag is the MD5 of the part, except with some kinds of encryption. */
  readonly sendBytes: PartSender<Uint8Array<ArrayBuffer>> = async (bytes, number, signal) => {
    const known = this.#stored.get(number);
    if (known?.size === bytes.length) {
      const md5 = createHash('md5').update(bytes).digest('hex');
      if (known.etag.replaceAll('"', '') === md5) return known.etag;
    }
    const { label } = this.#object;
    const request = {
      activity: `writing part ${number} of ${label}`,
      expect: [200],
      ...this.#request('PUT', number),
    };
    const { etag } = await ask(this.#object, request, bytes, signal);
    return etag ?? fail(`The storage returned no ETag for part ${number} of ${label}.`);
  };

  /** Returns a sender that copies parts server-side from another object. */
  sendRange(source: { path: string; validator: string }): PartSender<{ from: number; to: number }> {
    return async ({ from, to }, number, signal) => {
      const { label } = this.#object;
      const request = {
        ...this.#request('PUT', number),
        headers: {
          'x-amz-copy-source': source.path,
          'x-amz-copy-source-if-match': source.validator,
          'x-amz-copy-source-range': `bytes=${from}-${to}`,
        },
        expect: [200],
        activity: `copying part ${number} of ${label}`,
      };
      const copy = () => ask(this.#object, request, noBytes, signal);
      const { bytes } = await sendCheckingBody(this.#object, request.activity, copy, signal);
      return etagOf(bytes) ?? fail(`The storage returned no ETag for part ${number} of ${label}.`);
    };
  }

  #request(method: 'PUT', partNumber: number) {
    const url = withQuery(this.#object.place.url, { partNumber, uploadId: this.#id });
    return { method, url, writing: true } as const;
  }

  async #sendAll<T>(
    parts: AsyncIterable<T> | Iterable<T>,
    bytes: number,
    sendPart: PartSender<T>,
    signal: AbortSignal,
  ): Promise<string[]> {
    const slots = createSemaphore(parallelParts(bytes));
    const ended = new AbortController();
    const either = AbortSignal.any([signal, ended.signal]);
    const etags: string[] = [];
    const sending: Promise<void>[] = [];
    let failure: { error: unknown } | undefined;
    const send = async (part: T, number: number, free: () => void): Promise<void> => {
      try {
        etags[number - 1] = await sendPart(part, number, either);
      } catch (error) {
        failure ??= { error };
        ended.abort();
      } finally {
        free();
      }
    };
    try {
      for await (const part of parts) {
        const free = await slots.acquire(either);
        if (sending.length >= maxParts) throw tooMany(this.#object);
        sending.push(send(part, sending.length + 1, free));
      }
    } catch (error) {
      failure ??= { error };
      ended.abort();
    }
    await Promise.all(sending);
    if (signal.aborted) throw abortError(signal);
    if (failure !== undefined) throw failure.error;
    return etags;
  }

  /** Completes the object. If the response was lost, the retry finds no upload and checks the object's ETag instead. */
  async #complete(etags: readonly string[], signal: AbortSignal): Promise<void> {
    const { place, label } = this.#object;
    const request = {
      method: 'POST',
      url: withQuery(place.url, { uploadId: this.#id }),
      headers: { 'content-type': 'application/xml' },
      expect: [200, 404],
      writing: true,
      activity: `completing ${label}`,
    } as const;
    const body = new Uint8Array(completion(etags));
    const complete = (): Promise<Answer> => ask(this.#object, request, body, signal);
    const { status } = await sendCheckingBody(this.#object, request.activity, complete, signal);
    if (status === 200) return;
    const head = {
      method: 'HEAD',
      url: place.url,
      expect: [200, 404],
      activity: `looking for ${label}`,
    } as const;
    const { etag } = await ask(this.#object, head, undefined, signal);
    if (etag === undefined || etag.replaceAll('"', '') !== multipartEtag(etags))
      throw new TransferError(
        'retryable',
        `The upload of ${label} disappeared before it was complete: another client has ended it.`,
        { again: false },
      );
  }

  async #abort(signal: AbortSignal): Promise<void> {
    const { place, label } = this.#object;
    const url = withQuery(place.url, { uploadId: this.#id });
    const request = { method: 'DELETE', url, expect: [200, 204, 404], writing: true } as const;
    await ask(this.#object, { ...request, activity: `aborting the upload of ${label}` }, undefined, signal);
  }
}

/** The ETag of a multipart object: the MD5 of the MD5s of its parts. */
function multipartEtag(etags: readonly string[]): string {
  const hash = createHash('md5');
  for (const etag of etags) hash.update(Buffer.from(etag.replaceAll('"', ''), 'hex'));
  return `${hash.digest('hex')}-${etags.length}`;
}

async function begin(object: S3Object, upload: FileUpload, signal: AbortSignal): Promise<string> {
  const { place, label } = object;
  const request = {
    method: 'POST',
    url: withQuery(place.url, { uploads: '' }),
    headers: metadataOf(upload, upload.digest),
    expect: [200],
    writing: true,
    activity: `starting to write ${label}`,
  } as const;
  const { bytes } = await ask(object, request, undefined, signal);
  return uploadIdOf(bytes) ?? fail(`The storage started an upload of ${label} without an upload ID.`);
}

/** The ID of an unfinished upload. Some accounts may not list uploads, and some storages cannot. */
async function unfinishedUpload(object: S3Object, signal: AbortSignal): Promise<string | undefined> {
  const { place, label } = object;
  const url = withQuery(place.bucketURL, { uploads: '', prefix: place.key });
  const request = { method: 'GET', url, expect: [200, 400, 403, 404, 405, 501] } as const;
  const activity = `looking for an earlier upload of ${label}`;
  const { status, bytes } = await ask(object, { ...request, activity }, undefined, signal);
  return status === 200 ? newestUpload(bytes, place.key) : undefined;
}

async function storedParts(
  object: S3Object,
  uploadId: string,
  signal: AbortSignal,
): Promise<Map<number, StoredPart> | undefined> {
  const { place, label } = object;
  const found = new Map<number, StoredPart>();
  let marker: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const after = marker === undefined ? {} : { 'part-number-marker': marker };
    const url = withQuery(place.url, { uploadId, 'max-parts': 1000, ...after });
    const request = {
      method: 'GET',
      url,
      expect: [200, 400, 403, 404, 501],
      activity: `listing the parts of ${label}`,
    } as const;
    const { status, bytes } = await ask(object, request, undefined, signal);
    if (status !== 200) return undefined;
    const { parts, next } = partsOf(bytes);
    for (const part of parts) found.set(part.number, part);
    if (next === undefined) break;
    marker = next;
  }
  return found;
}

function tooMany({ label }: S3Object): TransferError {
  return new TransferError(
    'permanent',
    `The ${label} is too large for S3: it has more than ${maxParts} parts.`,
  );
}

function fail(message: string): never {
  throw new TransferError('permanent', message);
}
