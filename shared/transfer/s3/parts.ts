import { bytesText } from '#shared/base/errors';
import { TransferError } from '../errors/transfer-error.ts';

const mebibyte = 1024 * 1024;
/** The usual size of a part, unless the file needs larger ones. Storages refuse parts below 5 MiB. */
export const defaultPartBytes = 8 * mebibyte;
const maxPartBytes = 64 * mebibyte;
/** Maximum number of parts of an upload (docs.aws.amazon.com, "Amazon S3 multipart upload limits"). */
export const maxParts = 10_000;
/** Memory for parts in flight, in bytes. */
const memory = 24 * mebibyte;
const maxParallel = 3;

/**
 * Returns the size of part `number` (from 1): `usual`, or as much as a file of `size` needs to fit into 10,000 parts. Without a size the parts
 * grow with the number, so that small files have small parts and large files fit. Deterministic. Throws a permanent TransferError for a file
 * that does not fit.
 */
export function partBytes(number: number, size: number | undefined, usual = defaultPartBytes): number {
  if (size === undefined) return Math.min(maxPartBytes, usual * 2 ** Math.floor((number - 1) / 2500));
  const needed = Math.ceil(size / maxParts / usual) * usual;
  if (needed <= maxPartBytes) return Math.max(usual, needed);
  throw new TransferError(
    'permanent',
    `A file of ${bytesText(size)} is too large for S3: the limit is ${maxParts} parts of ${bytesText(maxPartBytes)}.`,
  );
}

/** The number of concurrent parts of that many bytes. */
export function parallelParts(bytes: number): number {
  return Math.max(1, Math.min(maxParallel, Math.floor(memory / bytes)));
}

/** Recycles the buffers of sent parts, which would pile up if left to the garbage collector. */
export class PartBuffers {
  readonly #free: Uint8Array<ArrayBuffer>[] = [];

  take(bytes: number): Uint8Array<ArrayBuffer> {
    const known = this.#free.pop();
    return known?.length === bytes ? known : new Uint8Array(bytes);
  }

  /** Returns a buffer that is no longer read. */
  give(part: Uint8Array<ArrayBuffer>): void {
    if (this.#free.length < maxParallel) this.#free.push(new Uint8Array(part.buffer));
  }
}

/** Cuts content into parts, using `buffers`. Empty content is one empty part. */
export async function* splitIntoParts(
  content: AsyncIterable<Uint8Array>,
  bytesOf: (number: number) => number,
  buffers: PartBuffers,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let number = 1;
  let part: Uint8Array<ArrayBuffer> | undefined;
  let filled = 0;
  for await (const chunk of content) {
    for (let at = 0; at < chunk.length; ) {
      part ??= buffers.take(bytesOf(number));
      const taken = chunk.subarray(at, at + part.length - filled);
      part.set(taken, filled);
      filled += taken.length;
      at += taken.length;
      if (filled < part.length) continue;
      yield part;
      number += 1;
      part = undefined;
      filled = 0;
    }
  }
  if (part !== undefined) yield part.subarray(0, filled);
  else if (number === 1) yield new Uint8Array(0);
}
