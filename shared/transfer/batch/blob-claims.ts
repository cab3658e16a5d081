import type { BlobSink, ContentSink } from '../content/content.ts';
import { throwIfAborted } from '../errors/transfer-error.ts';

/** Prevents concurrent copies from sending the same blob to the same repository twice. */
export interface BlobClaims {
  /** Wraps `sink` for one copy, which must call `release` when it ends. */
  claimFor(sink: ContentSink): { sink: ContentSink; release: () => void };
}

/**
 * A copy that asks for a blob that another copy has claimed waits until that copy is done with the blob, then asks. This cannot deadlock: a
 * copy waits before it starts on a blob, and continues with its other blobs meanwhile.
 */
export function createBlobClaims(): BlobClaims {
  const claims = new Map<string, PromiseWithResolvers<void>>();

  return {
    claimFor(sink) {
      const mine = new Set<string>();
      const keyOf = (digest: string): string => `${placeOf(sink)} ${digest}`;
      const releaseClaim = (key: string): void => {
        if (!mine.delete(key)) return;
        claims.get(key)?.resolve();
        claims.delete(key);
      };
      const guarded: ContentSink = {
        ...sink,
        async hasBlob(blob, signal) {
          const key = keyOf(blob.digest);
          for (let other = claims.get(key); other && !mine.has(key); other = claims.get(key)) {
            await settledOrAborted(other.promise, signal);
            throwIfAborted(signal);
          }
          if (!mine.has(key)) claims.set(key, Promise.withResolvers());
          mine.add(key);
          const has = await sink.hasBlob(blob, signal);
          if (has) releaseClaim(key);
          return has;
        },
        async upload(blob, body, signal, rest) {
          const isReported = await sink.upload(blob, body, signal, rest);
          releaseClaim(keyOf(blob.digest));
          return isReported;
        },
      };
      const { mount } = sink;
      if (mount) {
        guarded.mount = async (digest, from, signal) => {
          const mounted = await mount(digest, from, signal);
          if (mounted) releaseClaim(keyOf(digest));
          return mounted;
        };
      }
      return { sink: guarded, release: () => [...mine].forEach(releaseClaim) };
    },
  };
}

/** Identifies the repository that a sink writes to. */
export function placeOf({ place, registry }: BlobSink): string {
  return registry ? `${registry.origin}/${registry.repository}` : place;
}

function settledOrAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise: either, resolve } = Promise.withResolvers<void>();
  const done = (): void => {
    signal.removeEventListener('abort', done);
    resolve();
  };
  signal.addEventListener('abort', done);
  void promise.then(done);
  if (signal.aborted) done();
  return either;
}
