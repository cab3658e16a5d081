import { bytesText } from '#shared/base/errors';
import type { Refuse } from './slots.ts';

export interface BodyBytes {
  /** Reserves bytes for a party. Throws TooManyRequests above its bound. */
  reserve(party: string, bytes: number): void;
  release(party: string, bytes: number): void;
}

/** Bytes of bodies at a time. */
export interface ByteLimits {
  /** Of one request. A party may always have one body of this size under way. */
  body: number;
  party: number;
  /** Of all parties. When it is reached, a party that holds more than an equal part of it is refused. */
  total: number;
}

/** Bounds the memory that the bodies of requests take, from the first byte until the request is over. */
export function boundBodyBytes(limits: ByteLimits, refuse: Refuse): BodyBytes {
  const held = new Map<string, number>();
  let sum = 0;
  return {
    reserve(party, bytes) {
      const own = (held.get(party) ?? 0) + bytes;
      const parties = held.size + (held.has(party) ? 0 : 1);
      const part = sum + bytes <= limits.total ? limits.party : limits.total / parties;
      const bound = Math.max(limits.body, Math.min(limits.party, Math.floor(part)));
      if (own > bound)
        throw refuse('body-bytes', `the bodies of this user would come to more than ${bytesText(bound)}`);
      held.set(party, own);
      sum += bytes;
    },
    release(party, bytes) {
      const left = (held.get(party) ?? 0) - bytes;
      if (left > 0) held.set(party, left);
      else held.delete(party);
      sum -= bytes;
    },
  };
}
