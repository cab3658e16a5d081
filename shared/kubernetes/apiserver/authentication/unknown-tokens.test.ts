import { beforeEach, describe, expect, it } from 'vitest';
import { limitUnknownTokens, type UnknownTokens } from './unknown-tokens.ts';

let clock: number;
let limit: UnknownTokens;
beforeEach(() => {
  clock = 0;
  limit = limitUnknownTokens(() => clock);
});

/** How many reviews an address gets before it is refused. */
function taken(address: string): number {
  for (let count = 0; count < 1000; count += 1) {
    try {
      limit.take(address);
    } catch (caught) {
      expect(caught).toMatchObject({ code: 'TooManyRequests', details: { retryAfterSeconds: 1 } });
      return count;
    }
  }
  return Number.POSITIVE_INFINITY;
}

describe('limitUnknownTokens', () => {
  it('gives each address a number of reviews, and more as time goes by', () => {
    expect(taken('10.0.0.1')).toBe(50);
    expect(taken('10.0.0.2')).toBe(50);
    clock = 1_000;
    expect(taken('10.0.0.1')).toBe(5);
    clock = 60_000;
    expect(taken('10.0.0.1')).toBe(50);
  });

  it('charges nothing for tokens that were good', () => {
    for (let count = 0; count < 200; count += 1) limit.take('10.0.0.1')();
    expect(limit.size).toBe(0);
    expect(taken('10.0.0.1')).toBe(50);
  });

  it('treats the addresses of an IPv6 /64 as one client', () => {
    expect(taken('2001:db8:0:1::1')).toBe(50);
    expect(taken('2001:db8:0:1:ffff::2')).toBe(0);
    expect(taken('2001:db8::1:0:0:0:3')).toBe(0);
    expect(taken('2001:db8:0:2::1')).toBe(50);
    expect(taken('::ffff:10.0.0.1')).toBe(50);
    expect(taken('::ffff:10.0.0.2')).toBe(50);
  });

  it('remembers a bounded number of addresses', () => {
    for (let at = 0; at < 11_000; at += 1) limit.take(`10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`);
    expect(limit.size).toBe(10_000);
  });

  it('leaves the calls of its own process alone', () => {
    for (let count = 0; count < 200; count += 1) limit.take(undefined);
    expect(limit.size).toBe(0);
  });
});
