import { describe, expect, it } from 'vitest';
import { createSeries } from './series.ts';

describe('createSeries', () => {
  it('gives the same sample for the same label values, whatever their order and type', () => {
    const series = createSeries('counter', { name: 'x', help: 'x', labels: ['a', 'b'] });
    expect(series.at({ a: 1, b: 'y' })).toBe(series.at({ b: 'y', a: '1' }));
    expect(series.at({ a: 'y', b: 1 })).not.toBe(series.at({ a: 1, b: 'y' }));
  });

  it('reads a missing label as the empty text and ignores undeclared labels', () => {
    const series = createSeries('gauge', { name: 'x', help: 'x', labels: ['a'] });
    expect(series.at({ other: 'z' }).labels).toEqual({ a: '' });
  });

  it('keeps at most maxSeries label sets and one for all others', () => {
    const series = createSeries('counter', { name: 'x', help: 'x', labels: ['a'], maxSeries: 3 });
    for (let index = 0; index < 1000; index += 1) series.at({ a: index });
    expect(series.samples.size).toBe(4);
  });

  it.each([['le'], ['1a'], ['a-b']])('refuses the label name %s', (name) => {
    expect(() => createSeries('counter', { name: 'x', help: 'x', labels: [name] })).toThrow(
      /is not a label name/,
    );
  });
});
