/** A question to the cluster's own API server: TokenReview or SubjectAccessReview. */
export interface Review {
  apiVersion: string;
  kind: string;
  plural: string;
  spec: object;
}

/** Posts a review and resolves with the object answered, `status` filled in. Injected: this folder knows no client. */
export type PostReview = (review: Review, signal: AbortSignal) => Promise<unknown>;

/** Milliseconds a review may take. */
export const reviewDeadlineMs = 10_000;
/** Milliseconds an answer is believed, either way: how long a right taken away may still work. */
export const reviewTtlMs = 10_000;
/** Answers kept at most. */
export const maxCachedReviews = 4096;
