import { describe, expect, it } from 'vitest';
import { nextPage } from './next-page.ts';

const here = new URL('https://r.io/v2/a/referrers/x');

describe('the next page', () => {
  it.each([
    ['</v2/a/referrers/x?from=2>; rel="next"', 'https://r.io/v2/a/referrers/x?from=2'],
    ['<https://r.io/other>; rel=next', 'https://r.io/other'],
    ['<http://r.io:5000/other?p=2>; rel="next"', 'https://r.io/other?p=2'],
    ['<https://elsewhere.io/other>; rel="next"', 'https://r.io/other'],
    ['<a>; rel="prev", <?p=2>; rel="next"', 'https://r.io/v2/a/referrers/x?p=2'],
  ])('of %s is %s', (header, url) => {
    expect(nextPage(header, here)?.href).toBe(url);
  });

  it.each([undefined, '', '<https://r.io/v2/a/referrers/x>; rel="next"', '<x>; rel="prev"'])(
    'is not to be had from %s',
    (header) => {
      expect(nextPage(header, here)).toBeUndefined();
    },
  );
});
