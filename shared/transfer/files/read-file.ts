import { createHash } from 'node:crypto';
import { bytesText } from '#shared/base/errors';
import type { FileIdentity, FileSource, OpenFile } from '../content/file.ts';
import { TransferError, throwIfAborted } from '../errors/transfer-error.ts';
import { countAttempts, type RetryPolicy } from '../http/retry.ts';

export interface FileReading {
  source: FileSource;
  /** In bytes, if it is known. */
  size?: number | undefined;
  /** `sha256:<hex>` that the content must have, if it is known. */
  expected: string | undefined;
  maxBytes: number;
  retry: RetryPolicy;
  /** Called with the bytes read so far. */
  onRead?: (bytes: number) => void;
}

/** The count of attempts starts again after this much progress: a server that interrupts every few bytes still ends the transfer. */
const progressBytes = 1024 * 1024;

/**
 * The content of a file, with its size and digest as the generator's result. An interrupted stream is resumed where it ended; if the
 * server sends the beginning again, it must be the same bytes. The last chunk comes only when size and digest are verified. Rejects with a
 * TransferError.
 */
export async function* readFile(
  reading: FileReading,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, FileIdentity> {
  const { source, expected, retry } = reading;
  const state = new ReadState(reading);
  const attempts = countAttempts({ policy: retry, signal, progressed: () => state.progressed });
  let held: Uint8Array | undefined;
  for (let complete = false; !complete; ) {
    throwIfAborted(signal);
    let opened: OpenFile | undefined;
    try {
      opened = await state.open(signal);
      for await (const chunk of state.fresh(opened)) {
        if (held !== undefined) yield held;
        held = chunk;
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

/** How far a file has been read, and what is known of it. */
class ReadState {
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

  /** True if the last attempt brought enough to count as one that works. */
  get progressed(): boolean {
    return this.offset - this.#offsetBefore >= progressBytes;
  }

  /** Opens the file where reading has to go on. */
  async open(signal: AbortSignal): Promise<OpenFile> {
    const { source, expected } = this.#reading;
    this.#offsetBefore = this.offset;
    const opened = await source.open(this.offset, this.#validator, signal);
    try {
      const { info, start, bounded } = opened;
      if (start > this.offset) throw interrupted(source, this.offset, 'it resumed at another byte');
      if (this.#size !== undefined && info.size !== undefined && info.size !== this.#size)
        throw changed(source);
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

  /** The bytes of an opened file that are new. Those that came before are compared. */
  async *fresh({ start, stream }: OpenFile): AsyncGenerator<Uint8Array> {
    const { source, onRead } = this.#reading;
    let skip = this.offset - start;
    const again = skip > 0 ? createHash('sha256') : undefined;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      const known = chunk.subarray(0, skip);
      skip -= known.length;
      if (known.length > 0) {
        again?.update(known);
        if (skip === 0 && again?.digest('hex') !== this.hash.copy().digest('hex')) throw changed(source);
      }
      if (known.length === chunk.length) continue;
      const rest = chunk.subarray(known.length);
      this.#take(rest);
      onRead?.(this.offset);
      yield rest;
    }
    if (skip > 0) throw changed(source);
    if (this.#size !== undefined && this.offset < this.#size)
      throw interrupted(source, this.offset, `it has ${bytesText(this.#size)}`);
  }

  #take(chunk: Uint8Array): void {
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
          `The server sends more of ${source.label} than the ${bytesText(this.#size)} that it announced.`,
        )
      : tooLarge(source, this.#size, maxBytes);
  }
}

const textOf = (caught: unknown): string => (caught instanceof Error ? caught.message : String(caught));

/** The failure for a file of more than `maxBytes`. */
export function tooLarge({ label }: FileSource, size: number | undefined, maxBytes: number): TransferError {
  const limit = bytesText(maxBytes);
  // Where both read alike, a second number says nothing.
  const has = size === undefined || bytesText(size) === limit ? 'has' : `has ${bytesText(size)},`;
  const message = `The ${label} ${has} more than the ${limit} that this worker moves: raise ARC_MAX_BYTES in the workflow template.`;
  return new TransferError('permanent', message);
}

/** The failure for content that is not what was ordered. */
export function wrongDigest({ label }: FileSource, found: string, expected: string): TransferError {
  const message = `The ${label} is not the one that was ordered: its digest is ${found}, and ${expected} is expected. It was not kept.`;
  return new TransferError('permanent', message);
}

function interrupted({ label }: FileSource, offset: number, why: string, cause?: unknown): TransferError {
  const message = `Reading ${label} ended after ${bytesText(offset)} (${why}): check the server and the network.`;
  return new TransferError('retryable', message, { cause });
}

function changed({ label }: FileSource): TransferError {
  const message = `The ${label} was changed while it was read: it can be moved once it stays as it is.`;
  return new TransferError('retryable', message, { again: false });
}

function unbounded({ label }: FileSource): TransferError {
  const message = `The server does not tell the size of ${label}, so that a broken connection would look like its end: set spec.sha256.`;
  return new TransferError('config', message);
}

/** Reads to the end and returns the generator's result. */
export async function finished<T>(generator: AsyncGenerator<unknown, T>): Promise<T> {
  for (;;) {
    const next = await generator.next();
    if (next.done === true) return next.value;
  }
}
