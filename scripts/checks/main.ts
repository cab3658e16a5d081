/** The checks of the source tree, run by `npm run check` and by main.test.ts. */
import { checkCircles } from './circles.ts';
import { checkDocumentedNames } from './documented-names.ts';
import { checkDocuments } from './documents.ts';
import { checkFolderSizes } from './folder-size.ts';
import { checkImports } from './imports.ts';
import { checkSecurityTable } from './security-table.ts';
import { readTree } from './source-tree.ts';
import { checkTestSupport } from './test-support.ts';

/** Runs all checks over the tree at `root`. @returns one line per problem: where, what, what to do. */
export async function checkTree(root: string): Promise<string[]> {
  const tree = await readTree(root);
  return [
    ...(await checkImports(root)),
    ...checkFolderSizes(tree),
    ...checkCircles(tree),
    ...checkTestSupport(tree),
    ...(await checkDocuments(root)),
    ...(await checkDocumentedNames(root)),
    ...(await checkSecurityTable(root)),
  ];
}
