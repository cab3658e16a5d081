import type { BlobSink, ContentSink } from '../content/content.ts';
import { throwIfAborted } from '../errors/transfer-error.ts';

/** Sees to it that copies that run at the same time do not send one blob to one place twice. */
export interface BlobClaims {
  /** `sink` for one copy, which has to call `release` when it has ended. */
  guard(sink: ContentSink): { sink: ContentSink; release: () => void };
}

/**
 * A copy that asks for a blob that another one is about to send waits until that has ended, and asks then. It cannot wait for itself in a
 * circle, because a copy waits for a blob before it begins with that, and goes on with the others meanwhile.
 */
export function createBlobClaims(): BlobClaims {
  const held = new Map<string, PromiseWithResolvers<void>>();

  return {
    guard(sink) {
      const mine = new Set<string>();
      const keyOf = (digest: string): string => `${placeOf(sink)} ${digest}`;
      const drop = (key: string): void => {
        if (!mine.delete(key)) return;
        held.get(key)?.resolve();
        held.delete(key);
      };
      const guarded: ContentSink = {
        ...sink,
        async hasBlob(blob, signal) {
          const key = keyOf(blob.digest);
          for (let other = held.get(key); other && !mine.has(key); other = held.get(key)) {
            await ended(other.promise, signal);
            throwIfAborted(signal);
          }
          if (!mine.has(key)) held.set(key, Promise.withResolvers());
          mine.add(key);
          const has = await sink.hasBlob(blob, signal);
          if (has) drop(key);
          return has;
        },
        async upload(blob, body, signal, rest) {
          await sink.upload(blob, body, signal, rest);
          drop(keyOf(blob.digest));
        },
      };
      const { mount } = sink;
      if (mount) {
        guarded.mount = async (digest, from, signal) => {
          const mounted = await mount(digest, from, signal);
          if (mounted) drop(keyOf(digest));
          return mounted;
        };
      }
      return { sink: guarded, release: () => [...mine].forEach(drop) };
    },
  };
}

/** The repository that a sink writes into, as one text. */
export function placeOf({ place, registry }: BlobSink): string {
  return registry ? `${registry.origin}/${registry.repository}` : place;
}

function ended(promise: Promise<void>, signal: AbortSignal): Promise<void> {
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
