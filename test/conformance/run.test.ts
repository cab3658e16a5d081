import { describe, expect, it } from 'vitest';
import { corpus } from './corpus/index.ts';
import { fill } from './run.ts';

describe('fill', () => {
  it('puts captured values in place and leaves unknown names', () => {
    expect(fill('/@{ns}/x?rv=@{rv}&y=@{none}', { ns: 'a', rv: '1' })).toBe('/a/x?rv=1&y=@{none}');
  });
});

describe('the corpus', () => {
  it('has more than 300 requests, in scenarios of different names', () => {
    expect(corpus.flatMap(({ steps }) => steps).length).toBeGreaterThan(300);
    expect(new Set(corpus.map(({ name }) => name)).size).toBe(corpus.length);
  });
});
