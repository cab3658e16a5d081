import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { furtherProgress, parseProgress, progressText } from './progress.ts';

const fraction = (text: string | undefined): number => {
  const parsed = parseProgress(text);
  return parsed ? parsed.done / parsed.total : 0;
};

describe('progress', () => {
  it('never falls, whatever is reported', () => {
    const reading = fc.oneof(
      fc.tuple(fc.nat(), fc.nat()).map(([n, m]) => `${n}/${m}`),
      fc.string(),
      fc.constant(undefined),
    );
    fc.assert(
      fc.property(fc.array(reading), (readings) => {
        let shown: string | undefined;
        for (const one of readings) {
          const next = furtherProgress(shown, one);
          expect(fraction(next)).toBeGreaterThanOrEqual(fraction(shown));
          shown = next;
        }
      }),
    );
  });

  it.each([
    [undefined, '3/10', '3/10'],
    ['3/10', '2/10', '3/10'],
    ['3/10', '4/20', '3/10'],
    ['3/10', '80/100', '80/100'],
    ['3/10', 'nonsense', '3/10'],
    [undefined, '0/0', undefined],
  ])('after %s, %s shows %s', (before, now, shown) => expect(furtherProgress(before, now)).toBe(shown));
});

describe('progressText', () => {
  it.each([
    [undefined, ''],
    ['0/1', '0/1'],
    ['3/10', '3/10'],
    ['13002342/41943040', '30% of 40 MiB'],
    ['41943040/41943040', '100% of 40 MiB'],
    ['nonsense', 'nonsense'],
  ])('of %s is %s', (progress, text) => {
    expect(progressText(progress)).toBe(text);
  });
});
