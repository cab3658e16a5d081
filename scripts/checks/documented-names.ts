import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { isProduction } from './source-tree.ts';

/** Environment variables and metrics of ARC. */
const name = /\b(?:ARC_[A-Z_]*[A-Z]|arc_[a-z]+(?:_[a-z]+)+)\b/g;
/** Variables that one program of ARC sets for another. */
const internal = new Set(['ARC_RUN']);
/** CHANGELOG.md is left out: it also names what no longer exists. */
const pages = '{README.md,CONTRIBUTING.md,SECURITY.md,{docs,functions,knative,scripts,shared,test}/**/*.md}';

/**
 * Checks environment variables `ARC_*` and metrics `arc_*`: the page of a program must name its own, any page those of shared/, and every name
 * on a page must exist in the tree.
 * @returns one line per problem
 */
export async function checkDocumentedNames(root: string): Promise<string[]> {
  const documented = await namesIn(root, pages);
  const defined = await namesIn(root, '{functions,shared,scripts/console}/**/*.ts', isProduction);
  const known = await namesIn(root, '{functions,shared,scripts,test,knative,.ci}/**/*.{ts,yaml}');
  const undocumented = [...defined].flatMap(([each, files]) =>
    internal.has(each)
      ? []
      : [...new Set(files.map(pageFor))]
          .filter((page) => !(documented.get(each) ?? []).some((file) => page === undefined || file === page))
          .map((page) => `${files[0]} names ${each}: document it in ${page ?? 'docs/operate'}`),
  );
  const unknown = [...documented]
    .filter(([each]) => !known.has(each) && !known.has(each.replace(/_(?:bucket|count|sum)$/, '')))
    .map(([each, files]) => `${files[0]} names ${each}, which does not exist`);
  return [...undocumented, ...unknown];
}

/** Returns the page of the program that a source file belongs to; undefined for a file of shared/. */
function pageFor(file: string): string | undefined {
  const [area, folder] = file.split('/');
  if (area === 'functions') return `functions/${folder}/README.md`;
  return area === 'scripts' ? 'docs/operate/console.md' : undefined;
}

/** Returns the files that match `pattern`, by the names that they contain. */
async function namesIn(
  root: string,
  pattern: string,
  isIncluded = (_file: string) => true,
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for await (const each of glob(pattern, { cwd: root })) {
    const file = each.replaceAll('\\', '/');
    if (!isIncluded(file)) continue;
    const text = await readFile(path.join(root, file), 'utf8');
    for (const word of new Set(text.match(name))) found.set(word, [...(found.get(word) ?? []), file]);
  }
  return found;
}
