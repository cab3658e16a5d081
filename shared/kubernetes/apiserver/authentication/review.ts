import { createExpiringCache } from './expiring-cache.ts';

/** A TokenReview or SubjectAccessReview for the API server of the cluster. */
export interface Review {
  apiVersion: string;
  kind: string;
  plural: string;
  spec: object;
}

/** Posts a review and resolves with the response, which includes `status`. */
export type PostReview = (review: Review, signal: AbortSignal) => Promise<unknown>;

const reviewTimeoutMs = 10_000;
/** TTL of results, allowed or denied: a revoked permission may stay effective for this time. */
const ttlMs = 10_000;
/** Limit of cached results. */
const maxResults = 4096;

/** Returns a function that posts a review unless its result is cached under `key`. @param now milliseconds of a monotonic clock */
export function cachedReviews<V>(
  now?: () => number,
): (key: string, review: (signal: AbortSignal) => Promise<V>) => Promise<V> {
  const cache = createExpiringCache<V>({ max: maxResults, ...(now && { now }) });
  return (key, review) =>
    cache.get(key, async () => ({ value: await review(AbortSignal.timeout(reviewTimeoutMs)), ttlMs }));
}
