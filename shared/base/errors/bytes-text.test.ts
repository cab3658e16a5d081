import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { bytesText } from './bytes-text.ts';

describe('bytesText', () => {
  it.each([
    [0, '0 bytes'],
    [1, '1 byte'],
    [1023, '1023 bytes'],
    [1024, '1 KiB'],
    [34_304, '33.5 KiB'],
    [1024 * 1024 - 1, '1 MiB'],
    [1.5 * 1024 ** 2, '1.5 MiB'],
    [64 * 1024 ** 3, '64 GiB'],
    [1024 ** 6, '1024 PiB'],
  ])('of %d is %s', (bytes, text) => {
    expect(bytesText(bytes)).toBe(text);
  });

  it('is never longer than a short word, and never a thousand of the next smaller unit', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (bytes) => {
        expect(bytesText(bytes)).toMatch(/^\d{1,4}(\.\d)? (bytes?|[KMGTP]iB)$/);
      }),
    );
  });
});
