import { describe, expect, it } from 'vitest';
import { annotations, unixSeconds } from '../kinds/well-known.ts';
import { order } from '../testing/plan-objects.ts';
import { forceTime, secondsTtl } from './effective.ts';

describe('effective values', () => {
  it.each([
    [undefined, 0],
    ['', 0],
    ['-5', 0],
    ['1.5', 0],
    ['soon', 0],
    ['9'.repeat(13), 0],
    ['1700000000', 1_700_000_000],
  ])('of the annotation %j: %d', (text, seconds) => expect(unixSeconds(text)).toBe(seconds));

  it('of a force: the later one', () => {
    const of = order([]);
    const metadata = { ...of.metadata, annotations: { [annotations.forceAt]: '100' } };
    expect(forceTime({ ...of, metadata })).toBe(100);
    expect(forceTime({ ...of, metadata, status: { lastForceAt: '1970-01-01T00:05:00Z' } })).toBe(300);
    expect(forceTime({ ...of, metadata, status: { lastForceAt: 'never' } })).toBe(100);
  });

  it('of seconds as a duration', () => {
    expect(secondsTtl(0)).toBe('0s');
    expect(secondsTtl(undefined)).toBeUndefined();
  });
});
