import { bytesText } from '#shared/base/errors';
import type { Refuse } from './slots.ts';

export interface BodyBytes {
  /** Reserves bytes for a flow. Throws TooManyRequests above its limit. */
  reserve(flow: string, bytes: number): void;
  release(flow: string, bytes: number): void;
}

/** Limits of the bytes of request bodies in memory. */
export interface ByteLimits {
  /** Size limit of one body. Every flow may have one body of this size in flight. */
  body: number;
  flow: number;
  /** Limit of all flows together. Above it, each flow is limited to an equal share. */
  total: number;
}

/** Limits the memory of request bodies, from the first byte until the request ends. */
export function boundBodyBytes(limits: ByteLimits, refuse: Refuse): BodyBytes {
  const reserved = new Map<string, number>();
  let sum = 0;
  return {
    reserve(flow, bytes) {
      const wanted = (reserved.get(flow) ?? 0) + bytes;
      const flows = reserved.size + (reserved.has(flow) ? 0 : 1);
      const share = sum + bytes <= limits.total ? limits.flow : limits.total / flows;
      const limit = Math.max(limits.body, Math.min(limits.flow, Math.floor(share)));
      if (wanted > limit)
        throw refuse('body-bytes', `the request bodies of this user would exceed ${bytesText(limit)}`);
      reserved.set(flow, wanted);
      sum += bytes;
    },
    release(flow, bytes) {
      const left = (reserved.get(flow) ?? 0) - bytes;
      if (left > 0) reserved.set(flow, left);
      else reserved.delete(flow);
      sum -= bytes;
    },
  };
}
