import { describe, expect, it } from 'vitest';
import { entryName, landingEntry, landingName, layoutEntry, movedName, writtenTag } from './landing.ts';
import { formatReference, parseImageName } from './reference.ts';

const landing = (image: string, override: unknown) =>
  formatReference(landingName(override, parseImageName(image)));
const digest = `sha256:${'0'.repeat(64)}`;

describe('the name at the destination', () => {
  it.each([
    ['team/app:1', undefined, 'team/app:1'],
    ['team/app:1', 'mirror/app:2', 'mirror/app:2'],
    ['team/app:1', 'mirror/app', 'mirror/app:1'],
    ['team/app', 'mirror/app', 'mirror/app'],
    [`team/app:1@${digest}`, 'mirror/app', `mirror/app:1@${digest}`],
    [`team/app@${digest}`, undefined, `team/app@${digest}`],
  ])('of %s with override %s is %s', (image, override, destination) => {
    expect(landing(image, override)).toBe(destination);
  });

  it('is refused with the field if the override is not a string', () => {
    expect(() => landing('a', 5)).toThrow('spec.override');
  });

  it('loses the digest of an index of which a part is moved', () => {
    const name = parseImageName(`team/app:1@${digest}`);
    expect(movedName(name, undefined)).toEqual(name);
    expect(movedName(name, ['linux/amd64'])).toEqual({ repository: 'team/app', tag: '1' });
  });

  it('has the tag latest only where it has neither tag nor digest', () => {
    expect(writtenTag({})).toBe('latest');
    expect(writtenTag({ digest })).toBeUndefined();
    expect(writtenTag({ tag: '1', digest })).toBe('1');
  });
});

describe('an entry of a layout', () => {
  it.each([
    ['r.io/team/app:1', undefined, { tag: 'r.io/team/app:1' }],
    ['r.io/team/app:1', 'anything at all', { tag: 'anything at all' }],
    ['team/app', `x@${digest}`, { tag: 'x', digest }],
  ])('of %s with override %s', (image, override, entry) => {
    expect(landingEntry(override, { repository: image })).toEqual(entry);
  });

  it.each([
    ['r.io/team/app:1', { repository: 'r.io/team/app', tag: '1' }],
    ['1.0', { repository: '', tag: '1.0' }],
    [`@${digest}`, { repository: '', digest }],
    ['', { repository: '' }],
  ])('%j has a name elsewhere', (text, name) => expect(entryName(text)).toEqual(name));

  it('is a name, a digest, or both', () => {
    expect(layoutEntry(`a:1@${digest}`)).toEqual({ tag: 'a:1', digest });
  });
});
