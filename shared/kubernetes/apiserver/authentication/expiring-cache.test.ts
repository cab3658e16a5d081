import { describe, expect, it } from 'vitest';
import { createExpiringCache } from './expiring-cache.ts';

describe('createExpiringCache', () => {
  it('never exceeds its limit, and evicts the oldest', async () => {
    const cache = createExpiringCache<string>({ max: 3, now: () => 0 });
    const load = (value: string) => async () => ({ value, ttlMs: 10 });
    for (let index = 0; index < 100; index += 1) await cache.get(`k${index}`, load(`v${index}`));
    expect(cache.size).toBe(3);
    expect(await cache.get('k99', load('again'))).toBe('v99');
    expect(await cache.get('k0', load('again'))).toBe('again');
  });

  it('keeps no failures, and no values without a time to live', async () => {
    const cache = createExpiringCache<string>({ max: 3, now: () => 0 });
    await expect(cache.get('k', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(cache.size).toBe(0);
    expect(await cache.get('k', async () => ({ value: 'a', ttlMs: 0 }))).toBe('a');
    expect(await cache.get('k', async () => ({ value: 'b', ttlMs: 0 }))).toBe('b');
  });
});
