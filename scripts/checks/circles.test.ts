import { describe, expect, it } from 'vitest';
import { checkCircles } from './circles.ts';

const tree = (imports: Record<string, string[]>) =>
  Object.entries(imports).map(([file, targets]) => ({ file, imports: targets }));

describe('the check for import circles', () => {
  it('accepts a tree in which two files share a third', () => {
    const files = {
      'shared/a/x.ts': ['./z.ts', 'hono'],
      'shared/a/y.ts': ['./x.ts', './z.ts'],
      'shared/a/z.ts': [],
    };
    expect(checkCircles(tree(files))).toEqual([]);
  });

  it('reports a circle of three files once', () => {
    const files = {
      'shared/a/x.ts': ['./y.ts'],
      'shared/a/y.ts': ['./b/z.ts'],
      'shared/a/b/z.ts': ['../x.ts'],
    };
    expect(checkCircles(tree(files))).toEqual([
      'shared/a/b/z.ts and shared/a/x.ts and shared/a/y.ts import each other: move what they share to a file below',
    ]);
  });

  it('reports a file that imports its own folder by the door', () => {
    const files = { 'shared/a/index.ts': ['./x.ts'], 'shared/a/x.ts': ['#shared/a'] };
    expect(checkCircles(tree(files))).toHaveLength(1);
  });

  it('reports two circles apart, and circles of test support', () => {
    const files = {
      'shared/a/x.ts': ['./y.ts'],
      'shared/a/y.ts': ['./x.ts', '../a/testing/p.ts'],
      'shared/a/testing/p.ts': ['./q.ts'],
      'shared/a/testing/q.ts': ['./p.ts'],
    };
    expect(checkCircles(tree(files))).toHaveLength(2);
  });
});
