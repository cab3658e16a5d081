import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { type Prereleases, versionRange } from './version-range.ts';
import { versionOf } from './versions.ts';

/** Which versions each range takes according to the library that Helm uses: 1 or 0, - where it reads no version; null for no range. */
const { versions, ranges } = JSON.parse(
  readFileSync(new URL('./helm-ranges.json', import.meta.url), 'utf8'),
) as { versions: string[]; ranges: Record<string, string | null> };

function taken(range: string): string | null {
  const takes = versionRange(range);
  if (takes === undefined) return null;
  const marks = versions.map((text) => {
    const version = versionOf(text);
    if (version === undefined) return '-';
    return takes(version) ? '1' : '0';
  });
  return marks.join('');
}

describe('versionRange', () => {
  it.each(Object.entries(ranges))('reads %j as Helm does', (range, expected) => {
    expect(taken(range)).toBe(expected);
  });

  it.each<[string, string, Prereleases, boolean]>([
    ['>=2.0.0-0 <3', '2.4.0-rc.1', 'oneBound', true],
    ['>=2.0.0-0 <3', '2.4.0-rc.1', 'eachBound', false],
    ['>=2.0.0-0 <3.0.0-0', '2.4.0-rc.1', 'eachBound', true],
    ['>=2', '2.4.0-rc.1', 'oneBound', false],
  ])('%s and %s, prereleases by %s: %s', (range, text, prereleases, expected) => {
    const version = versionOf(text) ?? expect.fail();
    expect(versionRange(range, prereleases)?.(version)).toBe(expected);
  });

  it('refuses ranges that are too long', () => {
    expect(versionRange(`>=${'1'.repeat(300)}`)).toBeUndefined();
  });

  it('never throws, and takes linear time', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123.xX*^~<>=!|-+ ,v'), maxLength: 256 }), (text) => {
        const takes = versionRange(text);
        if (takes) expect([true, false]).toContain(takes(versionOf('1.2.3') ?? expect.fail()));
      }),
    );
    const begun = performance.now();
    versionRange('1.'.repeat(120));
    versionRange(', '.repeat(128));
    versionRange('1 - '.repeat(64));
    expect(performance.now() - begun).toBeLessThan(1_000);
  });
});
