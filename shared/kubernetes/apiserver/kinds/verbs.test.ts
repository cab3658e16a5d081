import { describe, expect, it } from 'vitest';
import { sampleOrder, sampleReview, sampleSecret } from '../testing/sample-kinds.ts';
import { apiVersionOf, hasStatus, rootPath, verbsOf } from './verbs.ts';

describe('verbs', () => {
  it('of a stored kind include what garbage collection and namespace deletion need', () => {
    for (const verb of ['list', 'watch', 'delete', 'deletecollection'])
      expect(verbsOf(sampleOrder)).toContain(verb);
  });
  it('of a virtual kind are create alone, without a status', () => {
    expect(verbsOf(sampleReview)).toEqual(['create']);
    expect(hasStatus(sampleReview)).toBe(false);
    expect(hasStatus(sampleOrder)).toBe(true);
  });
});

describe('paths', () => {
  it('differ for core and named groups', () => {
    expect([apiVersionOf(sampleSecret), rootPath(sampleSecret)]).toEqual(['v1', '/api/v1']);
    expect(rootPath(sampleOrder)).toBe('/apis/arc.example.com/v1alpha1');
  });
});
