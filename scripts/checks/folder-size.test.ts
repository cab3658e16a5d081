import { describe, expect, it } from 'vitest';
import { checkFolderSizes } from './folder-size.ts';

const files = (folder: string, count: number, ending = '.ts') =>
  Array.from({ length: count }, (_, index) => ({ file: `${folder}/file-${index}${ending}`, imports: [] }));

describe('the check of folder sizes', () => {
  it('accepts 20 source files with a test beside each', () => {
    expect(checkFolderSizes([...files('shared/a', 20), ...files('shared/a', 20, '.test.ts')])).toEqual([]);
  });

  it('does not count the files of folders below', () => {
    expect(checkFolderSizes([...files('shared/a', 15), ...files('shared/a/b', 15)])).toEqual([]);
  });

  it('reports 21 source files, in testing/ too', () => {
    expect(checkFolderSizes([...files('functions/a', 21), ...files('shared/a/testing', 21)])).toEqual([
      'functions/a has 21 source files, 20 are allowed: split it',
      'shared/a/testing has 21 source files, 20 are allowed: split it',
    ]);
  });
});
