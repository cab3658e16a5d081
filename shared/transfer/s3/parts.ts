import { bytesText } from '#shared/base/errors';
import { TransferError } from '../errors/transfer-error.ts';

const mebibyte = 1024 * 1024;
/** What one request sends, where a file does not need more of them than there may be. Storages refuse parts below 5 MiB. */
export const usualPart = 8 * mebibyte;
const largestPart = 64 * mebibyte;
/** Of one upload (docs.aws.amazon.com, "Amazon S3 multipart upload limits"). */
export const mostParts = 10_000;
/** Bytes of parts that are sent at a time. */
const memory = 24 * mebibyte;
const mostParallel = 3;

/**
 * The bytes of part `number` (from 1 on): `usual`, or as many as a file of `size` needs for 10,000 parts. Without a size they grow with the
 * number, so that small files have small parts and large ones fit. The same file always has the same parts. Throws a permanent
 * TransferError for a file that does not fit.
 */
export function partBytes(number: number, size: number | undefined, usual = usualPart): number {
  if (size === undefined) return Math.min(largestPart, usual * 2 ** Math.floor((number - 1) / 2500));
  const needed = Math.ceil(size / mostParts / usual) * usual;
  if (needed <= largestPart) return Math.max(usual, needed);
  throw new TransferError(
    'permanent',
    `A file of ${bytesText(size)} is too large for S3 here: ${mostParts} parts of ${bytesText(largestPart)} at most.`,
  );
}

/** How many parts of that many bytes are sent at a time. */
export function parallelParts(bytes: number): number {
  return Math.max(1, Math.min(mostParallel, Math.floor(memory / bytes)));
}

/** Buffers of parts that are sent, for the next ones: left to the garbage collector, they would pile up. */
export class PartBuffers {
  readonly #free: Uint8Array<ArrayBuffer>[] = [];

  take(bytes: number): Uint8Array<ArrayBuffer> {
    const known = this.#free.pop();
    return known?.length === bytes ? known : new Uint8Array(bytes);
  }

  /** Takes back a part that nobody reads any more. */
  give(part: Uint8Array<ArrayBuffer>): void {
    if (this.#free.length < mostParallel) this.#free.push(new Uint8Array(part.buffer));
  }
}

/** Cuts content into parts, in `buffers`. Empty content is one empty part. */
export async function* inParts(
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
