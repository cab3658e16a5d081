import { describe, expect, it } from 'vitest';
import { parseChallenges } from '../auth/challenge.ts';
import { nextPage } from './next-page.ts';

const here = new URL('https://r.io/v2/a/referrers/x');

describe('the next page', () => {
  it.each([
    ['</v2/a/referrers/x?from=2>; rel="next"', 'https://r.io/v2/a/referrers/x?from=2'],
    ['<https://r.io/other>; rel=next', 'https://r.io/other'],
    ['<http://r.io:5000/other?p=2>; rel="next"', 'https://r.io/other?p=2'],
    ['<https://elsewhere.io/other>; rel="next"', 'https://r.io/other'],
    ['<a>; title="x"; REL = "last next" ; type="y"', 'https://r.io/v2/a/referrers/a'],
    ['<a>; rel="prev", <?p=2>; rel="next"', 'https://r.io/v2/a/referrers/x?p=2'],
  ])('of %s is %s', (header, url) => {
    expect(nextPage(header, here)?.href).toBe(url);
  });

  it.each([
    undefined,
    '',
    '<https://r.io/v2/a/referrers/x>; rel="next"',
    '<x>; rel="prev"',
    '<x>; rel="nextish"',
    '<x; rel="next"',
  ])('is not found in %s', (header) => {
    expect(nextPage(header, here)).toBeUndefined();
  });
});

describe('a header controlled by a registry', () => {
  /** The cheapest of a few attempts, in ms of CPU time: a collection of garbage may fall into one. */
  function cost(parse: (header: string) => unknown, header: string): number {
    const attempts = Array.from({ length: 4 }, () => {
      const before = process.threadCpuUsage();
      parse(header);
      return process.threadCpuUsage(before).user / 1000;
    });
    return Math.min(...attempts);
  }

  const links = (header: string) => nextPage(header, here);
  it.each<[string, (size: number) => string, (header: string) => unknown]>([
    ['a Link of <', (size) => '<'.repeat(size), links],
    ['a Link of ;rel=', (size) => `<>${';rel='.repeat(size / 5)}`, links],
    ['a Link with a quote that has no end', (size) => `<>;rel="${' '.repeat(size)}`, links],
    ['a challenge of spaces', (size) => `Basic a=b${' '.repeat(size)}(`, parseChallenges],
    ['a challenge of signs of equality', (size) => `Basic ${'='.repeat(size)}(`, parseChallenges],
    ['a challenge of commas', (size) => `Basic ${' ,'.repeat(size / 2)}(`, parseChallenges],
  ])('is parsed in linear time: %s', (_, header, parse) => {
    const [short, long] = [cost(parse, header(2_000)), cost(parse, header(8_000))];
    expect(long).toBeLessThan(8 * short + 10);
  });
});
