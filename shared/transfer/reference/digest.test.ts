import { describe, expect, it } from 'vitest';
import { attachedTags, digestOf, digestTag, hashFor, isDigest, sharedTagKind } from './digest.ts';

describe('digests', () => {
  it('use the algorithm of the digest they are compared with', () => {
    const bytes = Buffer.from('abc');
    const long = digestOf(bytes, 'sha512:');
    expect(isDigest(digestOf(bytes))).toBe(true);
    expect(isDigest(long)).toBe(true);
    expect(`sha512:${hashFor(long).update(bytes).digest('hex')}`).toBe(long);
  });

  it.each([
    '',
    'sha256:',
    'sha256:xyz',
    `md5:${'0'.repeat(32)}`,
    `sha256:${'A'.repeat(64)}`,
    `sha256:${'0'.repeat(64)}:`,
  ])('%j is not a digest', (text) => {
    expect(isDigest(text)).toBe(false);
    expect(() => hashFor(text)).toThrow('is not a sha256 or sha512 digest');
  });

  it('become tags of at most 128 characters', () => {
    expect(digestTag(digestOf(Buffer.from('')))).toMatch(/^sha256-[0-9a-f]{64}$/);
    expect(digestTag(digestOf(Buffer.from(''), 'sha512:'))).toHaveLength(128);
    expect(attachedTags('sha256:ab')).toEqual(['sha256-ab.sig', 'sha256-ab.att', 'sha256-ab.sbom']);
    expect(attachedTags(digestOf(Buffer.from(''), 'sha512:'))).toEqual([]);
  });

  it.each(['sha256:', 'sha512:'])('have tags that several clients share (%s)', (algorithm) => {
    const digest = digestOf(Buffer.from(''), algorithm);
    expect(sharedTagKind(digestTag(digest))).toBe('referrers');
    expect(attachedTags(digest).map(sharedTagKind)).toEqual(attachedTags(digest).map(() => 'attachment'));
    expect(sharedTagKind(`${digestTag(digest)}.other`)).toBeUndefined();
    expect(sharedTagKind('1.0')).toBeUndefined();
  });
});
