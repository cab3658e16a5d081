import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { acceptsGzip, gzipped } from './content.ts';

describe('acceptsGzip', () => {
  it.each([
    ['gzip', true],
    ['br, gzip;q=0.5', true],
    ['deflate,gzip', true],
    ['gzip;q=0', false],
    ['identity', false],
    ['', false],
    [null, false],
  ])('of %j is %s', (header, expected) => {
    expect(acceptsGzip(header)).toBe(expected);
  });
});

describe('gzipped', () => {
  it('fails with its source and reports why', async () => {
    const reasons: unknown[] = [];
    async function* source() {
      yield Buffer.from('some');
      throw new Error('damaged');
    }
    await expect(text(gzipped(source(), (caught) => reasons.push(caught)))).rejects.toThrow('damaged');
    expect(reasons).toEqual([expect.objectContaining({ message: 'damaged' })]);
  });
});
