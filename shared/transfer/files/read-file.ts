import { createHash } from 'node:crypto';
import { bytesText } from '#shared/base/errors';
import type { FileIdentity, FileSource, OpenFile } from '../content/file.ts';
import { TransferError, throwIfAborted } from '../errors/transfer-error.ts';
import { countAttempts, type RetryPolicy } from '../http/retry.ts';

export interface FileReading {
  source: FileSource;
  /** In bytes, if known. */
  size?: number | undefined;
  /** The required digest (`sha256:<hex>`), if known. */
  expected: string | undefined;
  maxBytes: number;
  retry: RetryPolicy;
  /** Called with the bytes read so far. */
  onRead?: (bytes: number) => void;
}

/** The count of attempts restarts after this much progress, so that a server that interrupts every few bytes still fails the transfer. */
const progressBytes = 1024 * 1024;

/**
 * Streams a file and returns its size and digest as the generator's result. An interrupted stream is resumed; if the server starts over, the
 * known bytes must be the same. The last chunk is yielded only after size and digest are verified. A chunk may be overwritten once the next one
 * is requested. Rejects with a TransferError.
 */
export async function* readFile(
  reading: FileReading,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, FileIdentity> {
  const { source, expected, retry } = reading;
  const state = new ReadProgress(reading);
  const attempts = countAttempts({ policy: retry, signal, progressed: () => state.progressed });
  let held: Uint8Array | undefined;
  for (let complete = false; !complete; ) {
    throwIfAborted(signal);
    let opened: OpenFile | undefined;
    try {
      opened = await state.open(signal);
      for await (const chunk of state.newBytes(opened)) {
        if (held !== undefined) yield held;
        held = undefined;
        // The buffer of a chunk may be reused, except that of the last one.
        if (state.mayBeWhole) held = chunk;
        else yield chunk;
      }
      complete = true;
    } catch (caught) {
      await attempts.failed(
        caught instanceof TransferError ? caught : interrupted(source, state.offset, textOf(caught), caught),
      );
    } finally {
      opened?.stream.destroy();
    }
  }
  const digest = `sha256:${state.hash.digest('hex')}`;
  if (expected !== undefined && digest !== expected) throw wrongDigest(source, digest, expected);
  if (held !== undefined) yield held;
  return { size: state.offset, digest };
}

/** The progress of reading a file. */
class ReadProgress {
  readonly hash = createHash('sha256');
  offset = 0;
  readonly #reading: FileReading;
  #size: number | undefined;
  #validator: string | undefined;
  #offsetBefore = 0;

  constructor(reading: FileReading) {
    this.#reading = reading;
    this.#size = reading.size;
  }

  /** False if more bytes follow. */
  get mayBeWhole(): boolean {
    return this.#size === undefined || this.offset === this.#size;
  }

  /** True if the last attempt made enough progress to reset the count of attempts. */
  get progressed(): boolean {
    return this.offset - this.#offsetBefore >= progressBytes;
  }

  /** Opens the file at the current offset. */
  async open(signal: AbortSignal): Promise<OpenFile> {
    const { source, expected } = this.#reading;
    this.#offsetBefore = this.offset;
    const opened = await source.open(this.offset, this.#validator, signal, true);
    try {
      const { info, start, bounded } = opened;
      if (start > this.offset) throw interrupted(source, this.offset, 'it resumed at another byte');
      if (this.#size !== undefined && info.size !== undefined && info.size !== this.#size)
        throw changedWhileReading(source);
      this.#size ??= info.size;
      this.#validator ??= info.validator;
      if (!bounded && expected === undefined) throw unbounded(source);
      if ((this.#size ?? 0) > this.#reading.maxBytes) throw this.#tooLarge();
      return opened;
    } catch (caught) {
      opened.stream.destroy();
      throw caught;
    }
  }

  /** Yields the new bytes of an opened file. Bytes that were read before must be the same. */
  async *newBytes({ start, stream }: OpenFile): AsyncGenerator<Uint8Array> {
    const { source, onRead } = this.#reading;
    let skip = this.offset - start;
    const again = skip > 0 ? createHash('sha256') : undefined;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      const known = chunk.subarray(0, skip);
      skip -= known.length;
      if (known.length > 0) {
        again?.update(known);
        if (skip === 0 && again?.digest('hex') !== this.hash.copy().digest('hex'))
          throw changedWhileReading(source);
      }
      if (known.length === chunk.length) continue;
      const rest = chunk.subarray(known.length);
      this.#append(rest);
      onRead?.(this.offset);
      yield rest;
    }
    if (skip > 0) throw changedWhileReading(source);
    if (this.#size !== undefined && this.offset < this.#size)
      throw interrupted(source, this.offset, `it has ${bytesText(this.#size)}`);
  }

  #append(chunk: Uint8Array): void {
    const { maxBytes } = this.#reading;
    this.offset += chunk.length;
    if (this.offset > Math.min(maxBytes, this.#size ?? maxBytes)) throw this.#tooLarge();
    this.hash.update(chunk);
  }

  #tooLarge(): TransferError {
    const { source, maxBytes } = this.#reading;
    return this.#size !== undefined && this.#size <= maxBytes
      ? new TransferError(
          'permanent',
          `The server sends more than the announced ${bytesText(this.#size)} of ${source.label}.`,
        )
      : tooLarge(source, this.#size, maxBytes);
  }
}

const textOf = (caught: unknown): string => (caught instanceof Error ? caught.message : String(caught));

/** The failure for a file of more than `maxBytes`. */
export function tooLarge({ label }: FileSource, size: number | undefined, maxBytes: number): TransferError {
  const limit = bytesText(maxBytes);
  // A size that rounds to the same text as the limit is omitted.
  const has = size === undefined || bytesText(size) === limit ? 'has' : `has ${bytesText(size)},`;
  const message = `The ${label} ${has} more than the limit of this worker, ${limit}: raise ARC_MAX_BYTES in the workflow template.`;
  return new TransferError('permanent', message);
}

/** The failure for content with another digest than expected. */
export function wrongDigest({ label }: FileSource, found: string, expected: string): TransferError {
  const message = `The ${label} has digest ${found} instead of the expected ${expected}. It was discarded.`;
  return new TransferError('permanent', message);
}

function interrupted({ label }: FileSource, offset: number, why: string, cause?: unknown): TransferError {
  const message = `Reading ${label} ended after ${bytesText(offset)} (${why}): check the server and the network.`;
  return new TransferError('retryable', message, { cause });
}

function changedWhileReading({ label }: FileSource): TransferError {
  const message = `The ${label} was changed while it was read: it can be moved once it no longer changes.`;
  return new TransferError('retryable', message, { again: false });
}

function unbounded({ label }: FileSource): TransferError {
  const message = `The server does not report the size of ${label}, so an interrupted connection would look like the end of the file: set spec.sha256.`;
  return new TransferError('config', message);
}

/** Drains a generator and returns its result. */
export async function drain<T>(generator: AsyncGenerator<unknown, T>): Promise<T> {
  for (;;) {
    const next = await generator.next();
    if (next.done === true) return next.value;
  }
}
