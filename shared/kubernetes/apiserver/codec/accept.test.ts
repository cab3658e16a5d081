import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { parseAccept } from './accept.ts';

const types = (header: string | null) => parseAccept(header).map((entry) => entry.type);

describe('parseAccept', () => {
  it('treats a missing or empty header as anything', () => {
    for (const header of [null, undefined, '', ' , ']) expect(parseAccept(header)[0]?.type).toBe('*/*');
  });

  it('orders by quality, then the exact before the wildcard, then as written', () => {
    expect(types('*/*, b/b, a/a;q=0.5, c/*, d/d')).toEqual(['b/b', 'd/d', 'c/*', '*/*', 'a/a']);
  });

  it('drops what has quality 0', () => {
    expect(types('a/a;q=0, b/b;q=0.1')).toEqual(['b/b']);
    expect(types('a/a;q=0')).toEqual([]);
  });

  it('reads parameters with blanks, quotes and capital names', () => {
    const [entry] = parseAccept('Application/JSON ; AS="Table" ; v = v1;flag');
    expect(entry?.type).toBe('application/json');
    expect([...(entry?.parameters ?? [])]).toEqual([
      ['as', 'Table'],
      ['v', 'v1'],
    ]);
  });

  it('never throws, and never answers out of order', () => {
    fc.assert(
      fc.property(fc.string(), (header) => {
        const qualities = parseAccept(header).map((entry) => entry.quality);
        expect(qualities).toEqual(qualities.toSorted((a, b) => b - a));
      }),
    );
  });
});
