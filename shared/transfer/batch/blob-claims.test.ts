import { describe, expect, it } from 'vitest';
import type { ContentSink } from '../content/content.ts';
import type { Descriptor } from '../content/manifest.ts';
import { createBlobClaims } from './blob-claims.ts';

const blob: Descriptor = { mediaType: 'x', digest: `sha256:${'0'.repeat(64)}`, size: 1 };
const { signal } = new AbortController();

/** A place that keeps blobs by digest. */
function place(name: string, kept: Set<string>): ContentSink {
  return {
    place: name,
    hasBlob: async ({ digest }) => kept.has(digest),
    upload: async ({ digest }) => kept.add(digest) !== undefined,
    manifest: async () => undefined,
    head: async () => undefined,
    putManifest: async () => ({ subjectSeen: false }),
    ensureReferrers: async () => undefined,
  };
}

/** Whether `promise` has settled by the time that everything due has run. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol();
  const later = new Promise((resolve) => setImmediate(resolve, pending));
  return (await Promise.race([promise, later])) === pending;
}

describe('concurrent copies', () => {
  it('send a blob to one repository once: the second waits for the first, and finds it', async () => {
    const claims = createBlobClaims();
    const kept = new Set<string>();
    const [first, second] = [claims.claimFor(place('a', kept)), claims.claimFor(place('a', kept))];
    expect(await first.sink.hasBlob(blob, signal)).toBe(false);
    const asked = second.sink.hasBlob(blob, signal);
    expect(await isPending(asked)).toBe(true);
    await first.sink.upload(blob, () => Buffer.alloc(1), signal);
    expect(await asked).toBe(true);
  });

  it('do not wait for themselves, nor for another repository', async () => {
    const claims = createBlobClaims();
    const [first, second] = [claims.claimFor(place('a', new Set())), claims.claimFor(place('b', new Set()))];
    expect(await first.sink.hasBlob(blob, signal)).toBe(false);
    expect(await first.sink.hasBlob(blob, signal)).toBe(false);
    expect(await second.sink.hasBlob(blob, signal)).toBe(false);
  });

  it('continue after the first has failed, and end when aborted', async () => {
    const claims = createBlobClaims();
    const [first, second, third] = [1, 2, 3].map(() => claims.claimFor(place('a', new Set())));
    await first?.sink.hasBlob(blob, signal);
    const stop = new AbortController();
    const stopped = third?.sink.hasBlob(blob, stop.signal);
    stop.abort();
    await expect(stopped).rejects.toThrow('stopped');
    const asked = second?.sink.hasBlob(blob, signal);
    first?.release();
    expect(await asked).toBe(false);
  });
});
