import { createHash } from 'node:crypto';
import { createSemaphore } from '#shared/base/async';
import type { FileUpload } from '../content/file.ts';
import { abortError, TransferError } from '../errors/transfer-error.ts';
import { completion, etagOf, newestUpload, partsOf, type StoredPart, uploadIdOf } from './answers.ts';
import { type Answer, ask, askAtLength, metadataOf, noBytes, type S3Object, withQuery } from './bucket.ts';
import { mostParts, parallelParts } from './parts.ts';

const maxPages = 10;

/** Stores one part; resolves with its ETag. */
export type PartSender<T> = (part: T, number: number, signal: AbortSignal) => Promise<string>;

/**
 * A multipart upload. What is left after a failure that may pass stays for the next attempt, which sends only the parts that are not there;
 * otherwise it is taken back.
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

  /** Goes on with the newest unfinished upload of the object, or begins one. */
  static async open(object: S3Object, upload: FileUpload, signal: AbortSignal): Promise<MultipartUpload> {
    const left = await unfinished(object, signal);
    const stored = left === undefined ? undefined : await storedParts(object, left, signal);
    if (left !== undefined && stored !== undefined) return new MultipartUpload(object, left, stored);
    return MultipartUpload.begin(object, upload, signal);
  }

  static async begin(object: S3Object, upload: FileUpload, signal: AbortSignal): Promise<MultipartUpload> {
    return new MultipartUpload(object, await begin(object, upload, signal), new Map());
  }

  /** Sends the parts, several at a time, and completes the object. Each of `parts` has `bytes` at most. */
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
      // Best effort: storages have a rule to remove what is left (AbortIncompleteMultipartUpload).
      if (!mayPass) await this.#abort(signal).catch(() => undefined);
      throw caught;
    }
  }

  /** Sends the bytes of one part, unless an earlier attempt did. An ETag is the MD5 of a part, except under some kinds of encryption. */
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
    return etag ?? fail(`The storage gave part ${number} of ${label} no ETag.`);
  };

  /** Has the storage copy one part from another object. */
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
      const { bytes } = await askAtLength(this.#object, request.activity, copy, signal);
      return etagOf(bytes) ?? fail(`The storage gave part ${number} of ${label} no ETag.`);
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
        if (sending.length >= mostParts) throw tooMany(this.#object);
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

  /** Makes the object of its parts. An answer that was lost shows as an upload that is not there any more. */
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
    const { status } = await askAtLength(this.#object, request.activity, complete, signal);
    if (status === 200) return;
    const head = {
      method: 'HEAD',
      url: place.url,
      expect: [200, 404],
      activity: `looking for ${label}`,
    } as const;
    const { etag } = await ask(this.#object, head, undefined, signal);
    if (etag === undefined || etag.replaceAll('"', '') !== combined(etags))
      throw new TransferError(
        'retryable',
        `The upload of ${label} is gone before it was complete: another client has ended it.`,
        { again: false },
      );
  }

  async #abort(signal: AbortSignal): Promise<void> {
    const { place, label } = this.#object;
    const url = withQuery(place.url, { uploadId: this.#id });
    const request = { method: 'DELETE', url, expect: [200, 204, 404], writing: true } as const;
    await ask(this.#object, { ...request, activity: `taking back ${label}` }, undefined, signal);
  }
}

/** The ETag of an object that was made of parts: the MD5 of theirs. */
function combined(etags: readonly string[]): string {
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
  return uploadIdOf(bytes) ?? fail(`The storage began an upload of ${label} and named no id for it.`);
}

/** Not every account may list uploads, and not every storage can. */
async function unfinished(object: S3Object, signal: AbortSignal): Promise<string | undefined> {
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
    `The ${label} is too large for S3: it has more than ${mostParts} parts.`,
  );
}

function fail(message: string): never {
  throw new TransferError('permanent', message);
}
