import { describe, expect, it } from 'vitest';
import { Revisions } from './revisions.ts';

const revisions = () =>
  new Revisions({ variables: { ns: '99', a: '10', b: '20', list: '10' }, ofLists: new Set(['list']) });
const shown = (revision: string, given = revisions()): unknown => {
  const object = { metadata: { resourceVersion: revision } };
  given.replace(object);
  return object.metadata.resourceVersion;
};

describe('Revisions', () => {
  it('treats all revisions that are not older than the known one as equal', () => {
    expect(['20', '21', '500'].map((one) => shown(one))).toEqual(['<latest>', '<latest>', '<latest>']);
  });

  it('tells older ones apart, by the list that was captured at the same revision first', () => {
    expect(['10', '15', '1'].map((one) => shown(one))).toEqual(['<list>', '<older>', '<older>']);
  });

  it('finds a watch that goes back', () => {
    const given = revisions();
    given.see({ metadata: { resourceVersion: '30' } });
    expect(shown('29', given)).toBe('<older>');
    expect(shown('30', given)).toBe('<latest>');
  });
});
