import path from 'node:path';
import { isTest, type SourceFile } from './source-tree.ts';

/** A folder with more files covers two topics. */
const mostFiles = 20;

/** Folders of shared/, functions/ and scripts/ with too many source files; tests do not count. @returns one line per folder. */
export function checkFolderSizes(tree: readonly SourceFile[]): string[] {
  const sources = tree.filter(({ file }) => !isTest(file) && !file.startsWith('test/'));
  const folders = Map.groupBy(sources, ({ file }) => path.posix.dirname(file));
  return [...folders]
    .filter(([, files]) => files.length > mostFiles)
    .map(
      ([folder, files]) => `${folder} has ${files.length} source files, ${mostFiles} are allowed: split it`,
    );
}
