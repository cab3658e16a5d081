import path from 'node:path';
import { isProduction, isTest, isTestSupport, resolveImport, type SourceFile } from './source-tree.ts';

/** Only tests import these; `vitest/node` is how scripts/test.ts runs them. */
const testPackages = ['vitest', 'fast-check', 'msw', 'msw/node'];

/**
 * Test support lives in `testing/` folders and in test/, and no program depends on it.
 * @returns one line per violation: a production file that imports test support, test support outside its folders, and a test in
 * shared/ that reaches up to functions/ or scripts/.
 */
export function checkTestSupport(tree: readonly SourceFile[]): string[] {
  return [...production(tree), ...misplaced(tree), ...upwards(tree)];
}

function production(tree: readonly SourceFile[]): string[] {
  return edges(tree)
    .filter(({ file }) => isProduction(file))
    .filter(({ target, to }) => isTestSupport(to) || isTest(to) || testPackages.includes(target))
    .map(({ file, target }) => `${file} imports ${target}: only tests and files in testing/ may`);
}

/** A file that nothing but tests and test support import is test support, unless it is a door or an entry point. */
function misplaced(tree: readonly SourceFile[]): string[] {
  const importers = Map.groupBy(edges(tree), ({ to }) => to);
  return [...importers]
    .filter(([to]) => tree.some(({ file }) => file === to) && isProduction(to) && !isDoor(to))
    .filter(([, from]) => from.every(({ file }) => !isProduction(file)))
    .map(([to]) => `${to} is imported by tests only: move it to a testing/ folder, or delete it`);
}

function upwards(tree: readonly SourceFile[]): string[] {
  return edges(tree)
    .filter(({ file, to }) => file.startsWith('shared/') && /^(functions|scripts)\//.test(to))
    .filter(({ file }) => !isProduction(file))
    .map(
      ({ file, target }) =>
        `${file} imports ${target}: tests of shared/ import neither functions nor scripts`,
    );
}

function edges(tree: readonly SourceFile[]): { file: string; target: string; to: string }[] {
  return tree.flatMap(({ file, imports }) =>
    imports.map((target) => ({ file, target, to: resolveImport(file, target) ?? target })),
  );
}

function isDoor(file: string): boolean {
  return ['index.ts', 'main.ts'].includes(path.posix.basename(file)) || /^scripts\/[^/]+$/.test(file);
}
