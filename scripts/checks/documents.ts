import { access, glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { isTest } from './source-tree.ts';

/** `[text](target)`, outside of code. */
const link = /\]\(([^)\s]+)\)/g;
/** A path in backticks, from the root or from the page's folder; no `*`, `<` or `{`. */
const treePath = /`((?:functions|shared|knative|scripts|test|docs|examples)\/[\w./-]*\w)\/?`/g;
/** A page of docs/ that a source file cites. */
const citedPage = /\bdocs\/[\w./-]+\.md\b/g;

/**
 * Pages that lead nowhere: a relative link, an anchor or a path of the tree that does not exist, in any Markdown file, and a page of
 * docs/ that a source file or manifest cites. @returns one line per problem.
 */
export async function checkDocuments(root: string): Promise<string[]> {
  const problems: string[] = [];
  for await (const file of glob('{*.md,{docs,functions,knative,scripts,test,examples}/**/*.md}', {
    cwd: root,
  })) {
    const text = await readFile(path.join(root, file), 'utf8');
    for (const [, target = ''] of text.matchAll(link)) {
      const problem = await brokenLink(root, file, target);
      if (problem !== undefined) problems.push(`${file} links to ${target}: ${problem}`);
    }
    for (const [, target = ''] of text.matchAll(treePath)) {
      const candidates = [path.join(root, target), path.join(root, path.dirname(file), target)];
      const found = await Promise.all(candidates.map(exists));
      if (!found.includes(true)) problems.push(`${file} names ${target}, which does not exist`);
    }
  }
  for await (const file of glob('{functions,shared,scripts,test,examples,knative}/**/*.{ts,yaml}', {
    cwd: root,
  })) {
    if (isTest(file)) continue;
    const text = await readFile(path.join(root, file), 'utf8');
    for (const [target] of text.matchAll(citedPage)) {
      if (!(await exists(path.join(root, target))))
        problems.push(`${file} cites ${target}, which does not exist`);
    }
  }
  return problems;
}

async function brokenLink(root: string, file: string, target: string): Promise<string | undefined> {
  if (/^[a-z]+:/.test(target)) return undefined;
  const [page = '', anchor] = target.split('#');
  const found = page === '' ? path.join(root, file) : path.join(root, path.dirname(file), page);
  if (!(await exists(found))) return 'it does not exist';
  if (anchor === undefined || !found.endsWith('.md')) return undefined;
  return anchorsOf(await readFile(found, 'utf8')).has(anchor) ? undefined : 'the page has no such heading';
}

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(text: string): Set<string> {
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    ),
  );
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
