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
      'shared/a/y.ts': ['./z.ts'],
      'shared/a/z.ts': ['./x.ts'],
    };
    expect(checkCircles(tree(files))).toEqual([
      'shared/a/x.ts and shared/a/y.ts and shared/a/z.ts form an import cycle: move the shared code to a lower file',
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

describe('the check for circles of folders', () => {
  it('accepts folders that import only downwards, and tests that import whatever they test', () => {
    const files = {
      'shared/a/index.ts': ['./top/x.ts'],
      'shared/a/top/x.ts': ['../base/y.ts', 'node:fs'],
      'shared/a/base/y.ts': [],
      'shared/a/base/y.test.ts': ['../top/x.ts'],
    };
    expect(checkCircles(tree(files))).toEqual([]);
  });

  it('names the folders, and a file pair of the edge with the fewest imports', () => {
    const files = {
      'shared/a/x.ts': ['../b/y.ts'],
      'shared/a/w.ts': ['../b/y.ts'],
      'shared/a/v.ts': [],
      'shared/b/y.ts': [],
      'shared/b/z.ts': ['../a/v.ts'],
    };
    expect(checkCircles(tree(files))).toEqual([
      'the folders shared/a and shared/b form an import cycle. Move the imported code to a folder below both, move the importing file up, or pass the value as an argument:\n  shared/b/z.ts imports shared/a/v.ts',
    ]);
  });

  it('reports a folder and one within it, and counts the imports of an edge', () => {
    const files = {
      'shared/a/index.ts': ['./b/x.ts', './b/y.ts', './b/z.ts'],
      'shared/a/v.ts': [],
      'shared/a/b/x.ts': ['../v.ts'],
      'shared/a/b/y.ts': ['../v.ts'],
      'shared/a/b/z.ts': [],
    };
    const [problem] = checkCircles(tree(files));
    expect(problem).toContain('the folders shared/a and shared/a/b form an import cycle');
    expect(problem).toContain(
      '\n  shared/a/b/x.ts imports shared/a/v.ts (and 1 more from shared/a/b to shared/a)',
    );
  });

  it('reports a circle of three folders once, by the one import that closes it', () => {
    const files = {
      'shared/a/x.ts': ['../b/x.ts'],
      'shared/a/y.ts': ['../b/x.ts'],
      'shared/b/x.ts': [],
      'shared/b/y.ts': ['../c/x.ts'],
      'shared/b/z.ts': ['../c/x.ts'],
      'shared/c/x.ts': [],
      'shared/c/testing/p.ts': ['../x.ts'],
      'shared/c/y.ts': ['../a/y.ts'],
    };
    const problems = checkCircles(tree(files));
    expect(problems).toHaveLength(1);
    expect(problems[0]?.split('\n').slice(1)).toEqual(['  shared/c/y.ts imports shared/a/y.ts']);
  });

  it('counts doors and test support', () => {
    const files = {
      'shared/a/index.ts': ['#shared/b'],
      'shared/b/index.ts': [],
      'shared/b/testing/p.ts': ['../../c/testing/q.ts', '../index.ts'],
      'shared/c/testing/q.ts': [],
      'shared/c/testing/r.ts': ['../../b/testing/p.ts'],
    };
    expect(checkCircles(tree(files))).toEqual([
      expect.stringContaining('the folders shared/b/testing and shared/c/testing form an import cycle'),
    ]);
  });
});
