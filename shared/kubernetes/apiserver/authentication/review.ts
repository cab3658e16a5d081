import { createExpiringCache } from './expiring-cache.ts';

/** A question to the cluster's own API server: TokenReview or SubjectAccessReview. */
export interface Review {
  apiVersion: string;
  kind: string;
  plural: string;
  spec: object;
}

/** Posts a review and resolves with the object answered, `status` filled in. Injected: this room has no client. */
export type PostReview = (review: Review, signal: AbortSignal) => Promise<unknown>;

/** Milliseconds a review may take. */
const deadlineMs = 10_000;
/** Milliseconds an answer is cached, whether it allows or not: a right that is taken away may still work so long. */
const ttlMs = 10_000;
/** Answers cached at most. */
const maxAnswers = 4096;

/** Returns a function that asks for the answer under `key` unless it is cached. @param now milliseconds of a monotonic clock */
export function cachedReviews<V>(
  now?: () => number,
): (key: string, ask: (signal: AbortSignal) => Promise<V>) => Promise<V> {
  const cache = createExpiringCache<V>({ max: maxAnswers, ...(now && { now }) });
  return (key, ask) =>
    cache.get(key, async () => ({ value: await ask(AbortSignal.timeout(deadlineMs)), ttlMs }));
}
