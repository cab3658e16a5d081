import { isIPv6 } from 'node:net';

export interface BudgetOptions {
  /** Burst per key. */
  burst: number;
  /** Sustained rate per key. */
  perSecond: number;
  /** Limit of remembered keys. */
  most: number;
  /** Milliseconds of a monotonic clock. */
  now?: (() => number) | undefined;
}

export interface Budgets {
  /** Takes one token from the bucket of `key`. Returns 0, or the seconds until the bucket has a token again. */
  take(key: string): number;
  /** Returns a token to the bucket. */
  giveBack(key: string): void;
  readonly size: number;
}

/** Creates a rate limiter with one token bucket per key. */
export function createBudgets(options: BudgetOptions): Budgets {
  const { burst, perSecond, most, now = () => performance.now() } = options;
  const budgets = new Map<string, { left: number; at: number }>();
  const refilled = ({ left, at }: { left: number; at: number }) =>
    Math.min(burst, left + ((now() - at) / 1000) * perSecond);

  return {
    take(key) {
      const known = budgets.get(key);
      const left = known ? refilled(known) : burst;
      if (left < 1) return Math.ceil((1 - left) / perSecond);
      budgets.delete(key); // moves the entry to the end
      budgets.set(key, { left: left - 1, at: now() });
      const oldest = budgets.keys().next();
      if (budgets.size > most && !oldest.done) budgets.delete(oldest.value);
      return 0;
    },
    giveBack(key) {
      const known = budgets.get(key);
      if (known === undefined) return;
      const left = refilled(known) + 1;
      if (left >= burst) budgets.delete(key);
      else budgets.set(key, { left, at: now() });
    },
    get size() {
      return budgets.size;
    },
  };
}

/** Returns the unit of a limit: an IPv4 address, or a /64 of IPv6, which belongs to one client. */
export function networkOf(address: string): string {
  const [plain = ''] = address.split('%');
  if (!isIPv6(plain) || plain.includes('.')) return address;
  const [head = '', tail] = plain.split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - after.length) }, () => '0');
  return [...groups, ...(tail === undefined ? [] : zeros), ...after].slice(0, 4).join(':');
}
