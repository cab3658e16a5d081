import { describe, expect, it } from 'vitest';
import { decodeContinue, encodeContinue } from './continue-token.ts';

const prefix = '/registry/g/widgets/';
const raw = (token: unknown) => Buffer.from(JSON.stringify(token)).toString('base64url');

describe('continue tokens', () => {
  it('round-trip', () => {
    const token = encodeContinue(prefix, `${prefix}ns/name\0`, 17);
    expect(decodeContinue(prefix, token)).toEqual({ revision: 17, start: `${prefix}ns/name\0` });
  });

  it.each([
    ['another version', { v: 'v1', rv: 1, start: 'a\0' }],
    ['a revision of 0', { v: 'meta.k8s.io/v1', rv: 0, start: 'a\0' }],
    ['a broken revision', { v: 'meta.k8s.io/v1', rv: 1.5, start: 'a\0' }],
    ['a start that climbs out', { v: 'meta.k8s.io/v1', rv: 1, start: '../secrets\0' }],
    ['a start that is too deep', { v: 'meta.k8s.io/v1', rv: 1, start: 'a/b/c\0' }],
    ['a start of nothing', { v: 'meta.k8s.io/v1', rv: 1, start: '' }],
    ['no object', null],
  ])('are refused with %s', (_what, token) => {
    expect(() => decodeContinue(prefix, raw(token))).toThrowError(
      expect.objectContaining({ code: 'BadRequest' }),
    );
  });
});
