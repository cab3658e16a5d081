import { describe, expect, it } from 'vitest';
import { checkTestSupport } from './test-support.ts';

const problems = (imports: Record<string, string[]>) =>
  checkTestSupport(Object.entries(imports).map(([file, targets]) => ({ file, imports: targets })));

describe('the check of test support', () => {
  it('lets tests and test support import a testing folder', () => {
    expect(
      problems({
        'shared/a/testing/fake.ts': ['vitest', 'msw'],
        'shared/a/x.test.ts': ['./testing/fake.ts', 'fast-check'],
        'functions/b/x.test.ts': ['../../shared/a/testing/fake.ts'],
        'test/fixtures/x.ts': ['../../shared/a/testing/fake.ts', '../../scripts/x.ts'],
      }),
    ).toEqual([]);
  });

  it.each([
    ['a testing folder', './testing/fake.ts'],
    ['a test', './y.test.ts'],
    ['test/', '../../test/fixtures/fake.ts'],
    ['a package for tests', 'msw'],
  ])('refuses that a production file imports %s', (_, target) => {
    expect(problems({ 'shared/a/x.ts': [target] })).toEqual([
      `shared/a/x.ts imports ${target}: only tests and files in testing/ may`,
    ]);
  });

  it('lets the test runner be started by a script', () => {
    expect(problems({ 'scripts/test.ts': ['vitest/node'] })).toEqual([]);
  });

  it('reports test support outside a testing folder', () => {
    const files = { 'shared/a/fake.ts': [], 'shared/a/x.test.ts': ['./fake.ts'] };
    expect(problems(files)).toEqual([
      'shared/a/fake.ts is imported only by tests: move it to a testing/ folder, or delete it',
    ]);
    expect(problems({ ...files, 'shared/a/x.ts': ['./fake.ts'] })).toEqual([]);
  });

  it.each(['../../scripts/demo/run.ts', '../../functions/b/index.ts'])(
    'refuses that a test of shared/ imports %s',
    (target) => {
      expect(problems({ 'shared/a/x.test.ts': [target] })).toEqual([
        `shared/a/x.test.ts imports ${target}: tests of shared/ import neither functions nor scripts`,
      ]);
    },
  );
});
