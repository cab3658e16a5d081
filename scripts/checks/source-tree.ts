import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';

/** A TypeScript file. Paths are relative to the root, with forward slashes. */
export interface SourceFile {
  file: string;
  /** Import specifiers as written: `./x.ts`, `#shared/kubernetes/client`, `hono`. */
  imports: readonly string[];
}

/** `import … from 'x'`, `export … from 'x'`, `import 'x'` and `import('x')`. */
const specifier = /(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g;

/** Reads all TypeScript files of functions/, shared/, scripts/, test/ and examples/, including tests, sorted by name. */
export async function readTree(root: string): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  for await (const file of glob('{functions,shared,scripts,test,examples}/**/*.{ts,tsx}', { cwd: root })) {
    const source = await readFile(path.join(root, file), 'utf8');
    const imports = [...source.matchAll(specifier)].map(([, target = '']) => target);
    files.push({ file: file.replaceAll('\\', '/'), imports });
  }
  return files.sort((a, b) => (a.file < b.file ? -1 : 1));
}

/** Resolves the import `target` of `file` to a file of the tree; undefined for a package. */
export function resolveImport(file: string, target: string): string | undefined {
  if (target.startsWith('#shared/')) return `shared/${target.slice('#shared/'.length)}/index.ts`;
  return target.startsWith('.') ? path.posix.join(path.posix.dirname(file), target) : undefined;
}

/** True for a file that vitest runs. */
export function isTest(file: string): boolean {
  return file.endsWith('.test.ts');
}

/** True for a file that only tests may import: in a folder named `testing`, or anywhere in test/. */
export function isTestSupport(file: string): boolean {
  return !isTest(file) && (file.startsWith('test/') || file.split('/').includes('testing'));
}

/** True for a file that is part of a program or of the build. */
export function isProduction(file: string): boolean {
  return !isTest(file) && !isTestSupport(file);
}
