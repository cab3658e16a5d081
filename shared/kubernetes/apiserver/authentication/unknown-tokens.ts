import { createBudgets, networkOf } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';

export interface UnknownTokens {
  /**
   * Takes a review from the budget of an address. The returned function gives it back, for a valid token. Throws TooManyRequests if the
   * budget is exhausted. @param address of the client; undefined for in-process calls, which are not limited
   */
  take(address: string | undefined): () => void;
  readonly size: number;
}

/**
 * Limits the TokenReviews, each of which is a request to the API server of the cluster, that unauthenticated clients cause: a token bucket
 * per address. @param now milliseconds of a monotonic clock
 */
export function limitUnknownTokens(now?: () => number): UnknownTokens {
  const budgets = createBudgets({ burst: 50, perSecond: 5, most: 10_000, now });
  return {
    take(address) {
      if (address === undefined) return () => undefined;
      const key = networkOf(address);
      const retryAfterSeconds = budgets.take(key);
      if (retryAfterSeconds > 0)
        throw new ArcError(
          'TooManyRequests',
          'Too many requests, please try again later: this address has sent too many invalid tokens.',
          { details: { retryAfterSeconds } },
        );
      return () => budgets.giveBack(key);
    },
    get size() {
      return budgets.size;
    },
  };
}
