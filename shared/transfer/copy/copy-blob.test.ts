import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import type { BlobSink, BlobSource } from '../content/content.ts';
import { TransferError } from '../errors/transfer-error.ts';
import type { BodySource } from '../http/body.ts';
import { digestOf } from '../reference/digest.ts';
import { copyBlob } from './copy-blob.ts';

const signal = new AbortController().signal;
const retry = { attempts: 4, baseMs: 1, maxMs: 2, maxRetryAfterMs: 10 };
const mebibyte = 1024 * 1024;
let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-blob-'));
});
afterEach(async () => {
  expect(await readdir(folder)).toEqual([]);
  await rm(folder, { recursive: true });
});

/** Serves `content` in chunks, reusing one buffer if allowed; the n-th download ends after `cuts[n]` bytes. */
function sourceOf(content: Buffer, cuts: readonly number[] = []) {
  const offsets: number[] = [];
  const source: BlobSource = {
    place: 'the source',
    async openBlob(_, offset, _signal, reusesBuffers) {
      const end = offset + (cuts[offsets.length] ?? content.length);
      offsets.push(offset);
      const part = content.subarray(offset, end);
      const stream = Readable.from(slices(part, 100_000), { objectMode: false });
      const chunks =
        reusesBuffers === true ? { [Symbol.asyncIterator]: () => inOneBuffer(part), destroy() {} } : stream;
      return { start: offset, size: content.length, stream: chunks };
    },
  };
  return { source, offsets };
}

function* slices(bytes: Buffer, length: number): Iterable<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function* inOneBuffer(bytes: Buffer): AsyncGenerator<Buffer> {
  const memory = Buffer.alloc(100_000);
  for (const slice of slices(bytes, memory.length)) {
    yield memory.subarray(0, slice.copy(memory));
    memory.fill(0);
  }
}

/** Takes blobs; the n-th upload fails after `cuts[n]` bytes. */
function sinkOf(cuts: readonly number[] = [], registry?: { reports: boolean }) {
  const received: Buffer[] = [];
  const sink: BlobSink = {
    place: 'the destination',
    ...(registry && { registry: { origin: 'http://dst', repository: 'a' } }),
    hasBlob: async () => false,
    async upload(_, body: BodySource) {
      const limit = cuts[received.length] ?? Number.POSITIVE_INFINITY;
      let got = Buffer.alloc(0);
      const index = received.push(got) - 1;
      const content = body();
      for await (const chunk of content instanceof Uint8Array ? [content] : content) {
        got = Buffer.concat([got, chunk]);
        received[index] = got;
        if (got.length > limit) throw new TransferError('retryable', 'cut');
      }
      return registry?.reports === true;
    },
  };
  return { sink, received };
}

function copy(
  content: Buffer,
  source: BlobSource,
  destination: BlobSink,
  { digest = digestOf(content), unhashed = false } = {},
) {
  const blob = { mediaType: 'application/octet-stream', digest, size: content.length };
  const sent: number[] = [];
  const copier = {
    source,
    destination,
    folder,
    retry,
    unhashed,
    onSent: (_: unknown, bytes: number) => sent.push(bytes),
  };
  return { sent, done: copyBlob(copier, blob, signal) };
}

describe.each([
  ['small', 1000],
  ['large', 3 * mebibyte],
])('a %s blob', (_, size) => {
  const content = Buffer.alloc(size, 'abc');

  it('is never stored if its content is wrong', async () => {
    const { sink, received } = sinkOf();
    const wrong = Buffer.from(content);
    wrong[5] = 0;
    const { done } = copy(content, sourceOf(wrong).source, sink);
    await expect(done).rejects.toThrow('wrong content');
    expect(received.every((bytes) => bytes.length < size)).toBe(true);
  });

  it('arrives despite interruptions, and its download is resumed', async () => {
    const cut = fc.integer({ min: 1, max: size - 1 });
    await fc.assert(
      fc.asyncProperty(fc.array(cut, { maxLength: 2 }), fc.array(cut, { maxLength: 2 }), async (down, up) => {
        const { source, offsets } = sourceOf(content, down);
        const { sink, received } = sinkOf(up);
        const { sent, done } = copy(content, source, sink);
        await done;
        expect(received.at(-1)?.equals(content)).toBe(true);
        expect(sent).toEqual(sent.toSorted((a, b) => a - b));
        expect(sent.at(-1)).toBe(size);
        // A download begins anew only for the second upload.
        expect(offsets.filter((offset) => offset === 0).length).toBeLessThanOrEqual(up.length > 0 ? 2 : 1);
      }),
      { numRuns: 20, seed: 7 },
    );
  });
});

it('a large blob is downloaded at most twice, however often its upload fails', async () => {
  const content = Buffer.alloc(2 * mebibyte, 'abc');
  const { source, offsets } = sourceOf(content);
  const { sink, received } = sinkOf([10, 10, 10]);
  await copy(content, source, sink).done;
  expect(received).toHaveLength(4);
  expect(offsets).toEqual([0, 0]);
});

it('an empty blob is copied', async () => {
  const { sink, received } = sinkOf();
  await copy(Buffer.alloc(0), sourceOf(Buffer.alloc(0)).source, sink).done;
  expect(received).toEqual([Buffer.alloc(0)]);
});

describe('a blob that the destination verifies', () => {
  const content = Buffer.alloc(3 * mebibyte, 'abc');
  const wrong = Buffer.from(content);
  wrong[5] = 0;

  it('is sent unhashed to a registry that reports its digest', async () => {
    const { sink, received } = sinkOf([], { reports: true });
    await copy(content, sourceOf(wrong).source, sink, { unhashed: true }).done;
    expect(received).toEqual([wrong]);
  });

  it('fails where the registry reports none', async () => {
    const { sink } = sinkOf([], { reports: false });
    const { done } = copy(content, sourceOf(content).source, sink, { unhashed: true });
    await expect(done).rejects.toThrow('leave ARC_BLOB_DIGESTS out');
  });

  it('is verified here all the same if the destination is no registry', async () => {
    const { sink } = sinkOf();
    const { done } = copy(content, sourceOf(wrong).source, sink, { unhashed: true });
    await expect(done).rejects.toThrow('wrong content');
  });
});
