import { describe, expect, it } from 'vitest';
import { programFor } from './programs.ts';

const programs = { 'arc/worker:*': ['any'], 'arc/worker:v1': ['exact'], 'a.b/*': ['dotted'] };

describe('programFor', () => {
  it.each([
    ['arc/worker:v2', ['any']],
    ['arc/worker:v1', ['exact']],
    ['a.b/c', ['dotted']],
    ['axb/c', undefined],
    ['x/arc/worker:v1', undefined],
    ['', undefined],
  ])('%s', (image, expected) => expect(programFor(image, programs)).toEqual(expected));
});
