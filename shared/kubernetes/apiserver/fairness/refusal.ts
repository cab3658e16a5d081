import { ArcError } from '#shared/base/errors';

/** The limit that a request met, as the label of a metric; the first two as API Priority and Fairness names them. */
export type RefusalReason = 'queue-full' | 'time-out' | 'requests' | 'watches' | 'connections' | 'body-bytes';

/** Makes the error of a refused request and counts it. `why` tells the user which limit it is. */
export type Refuse = (reason: RefusalReason, why: string) => ArcError;

export function refusals(count: (reason: RefusalReason) => void): Refuse {
  return (reason, why) => {
    count(reason);
    return new ArcError('TooManyRequests', `Too many requests, please try again later: ${why}.`, {
      details: { retryAfterSeconds: 1 },
    });
  };
}
