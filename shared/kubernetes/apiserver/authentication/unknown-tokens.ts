import { isIPv6 } from 'node:net';
import { ArcError } from '#shared/base/errors';

/** Reviews that an address may cause at once with tokens that nobody has vouched for. */
const burst = 50;
/** Such reviews in a second, after that. */
const perSecond = 5;
/** Addresses that are remembered, the last that asked. */
const maxAddresses = 10_000;

interface Budget {
  left: number;
  at: number;
}

export interface UnknownTokens {
  /**
   * Takes a review from the budget of a client's address; the returned function gives it back, for a token that was good. Throws TooManyRequests
   * when nothing is left. @param address of the connection; undefined: of this process, without a limit
   */
  take(address: string | undefined): () => void;
  readonly size: number;
}

/**
 * The reviews that clients may cause before anybody knows who they are: each is a request to the cluster's own API server. A budget for each address
 * refills with time. @param now milliseconds of a monotonic clock
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
          'Too many requests, please try again later: this address has sent many tokens that are not valid.',
          { details: { retryAfterSeconds: 1 } },
        );
      budgets.delete(key); // so that it becomes the youngest
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

/** An IPv6 client has all addresses of a /64. */
function networkOf(address: string): string {
  const [plain = ''] = address.split('%');
  if (!isIPv6(plain) || plain.includes('.')) return address;
  const [head = '', tail] = plain.split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - after.length) }, () => '0');
  return [...groups, ...(tail === undefined ? [] : zeros), ...after].slice(0, 4).join(':');
}
