import path from 'node:path';
import { isProduction, isTest, isTestSupport, resolveImport, type SourceFile } from './source-tree.ts';

/** Modules that only tests may import; scripts/test.ts uses `vitest/node` to run them. */
const testPackages = ['vitest', 'fast-check', 'msw', 'msw/node'];

/**
 * Checks that test support is in `testing/` folders or in test/, and that no program depends on it.
 * @returns one line per violation: a production file that imports test support, misplaced test support, and a test in shared/ that imports
 * functions/ or scripts/.
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

/** A file that only tests import is test support, unless it is an entry point. */
function misplaced(tree: readonly SourceFile[]): string[] {
  const importers = Map.groupBy(edges(tree), ({ to }) => to);
  return [...importers]
    .filter(([to]) => tree.some(({ file }) => file === to) && isProduction(to) && !isDoor(to))
    .filter(([, from]) => from.every(({ file }) => !isProduction(file)))
    .map(([to]) => `${to} is imported only by tests: move it to a testing/ folder, or delete it`);
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
