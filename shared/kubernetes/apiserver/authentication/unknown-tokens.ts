import { isIPv6 } from 'node:net';
import { ArcError } from '#shared/base/errors';

/** Burst of reviews of unknown tokens per address. */
const burst = 50;
/** Sustained rate of reviews of unknown tokens per address. */
const perSecond = 5;
/** Limit of remembered addresses. */
const maxAddresses = 10_000;

interface Budget {
  left: number;
  at: number;
}

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
export function limitUnknownTokens(now: () => number = () => performance.now()): UnknownTokens {
  const budgets = new Map<string, Budget>();
  const refilled = ({ left, at }: Budget) => Math.min(burst, left + ((now() - at) / 1000) * perSecond);

  return {
    take(address) {
      if (address === undefined) return () => undefined;
      const key = networkOf(address);
      const known = budgets.get(key);
      const left = known ? refilled(known) : burst;
      if (left < 1)
        throw new ArcError(
          'TooManyRequests',
          'Too many requests, please try again later: this address has sent too many invalid tokens.',
          { details: { retryAfterSeconds: 1 } },
        );
      budgets.delete(key); // moves the entry to the end
      budgets.set(key, { left: left - 1, at: now() });
      const oldest = budgets.keys().next();
      if (budgets.size > maxAddresses && !oldest.done) budgets.delete(oldest.value);
      return () => {
        const budget = budgets.get(key);
        if (budget === undefined) return;
        const restored = refilled(budget) + 1;
        if (restored >= burst) budgets.delete(key);
        else budgets.set(key, { left: restored, at: now() });
      };
    },
    get size() {
      return budgets.size;
    },
  };
}

/** Returns the unit of the limit: an IPv4 address, or a /64 of IPv6, which belongs to one client. */
function networkOf(address: string): string {
  const [plain = ''] = address.split('%');
  if (!isIPv6(plain) || plain.includes('.')) return address;
  const [head = '', tail] = plain.split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - after.length) }, () => '0');
  return [...groups, ...(tail === undefined ? [] : zeros), ...after].slice(0, 4).join(':');
}
