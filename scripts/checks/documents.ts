import { access, glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { isTest } from './source-tree.ts';

/** Pages of at least this many lines and sections need a table of contents. */
const longPage = { lines: 100, sections: 5 };

/** `[text](target)`, outside code. */
const link = /\]\(([^)\s]+)\)/g;
/** A path in backticks, from the root or from the page's folder; no `*`, `<` or `{`. */
const treePath = /`((?:functions|shared|knative|scripts|test|docs|examples)\/[\w./-]*\w)\/?`/g;
/** A page of docs/ cited in a source file. */
const citedPage = /\bdocs\/[\w./-]+\.md\b/g;

/**
 * Checks documentation: in Markdown files, relative links, anchors and paths must exist, as must pages of docs/ that source files or manifests
 * cite; code needs a fence with a language, and long pages need a table of contents.
 * @returns one line per problem
 */
export async function checkDocuments(root: string): Promise<string[]> {
  const problems: string[] = [];
  for await (const file of glob('{*.md,{docs,functions,knative,scripts,test,examples}/**/*.md}', {
    cwd: root,
  })) {
    const text = await readFile(path.join(root, file), 'utf8');
    problems.push(...formProblems(text).map((problem) => `${file}${problem}`));
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

/** Returns the formatting problems of a page. */
function formProblems(text: string): string[] {
  return [...codeProblems(text.split('\n')), ...missingContents(text)];
}

/** Finds code without a fence, or a fence without a language. In a list, four spaces continue an item. */
function codeProblems(lines: readonly string[]): string[] {
  const problems: string[] = [];
  let isCode = false;
  let isList = false;
  for (const [index, line] of lines.entries()) {
    const [, language] = /^\s*```(.*)$/.exec(line) ?? [];
    if (language !== undefined) {
      isCode = !isCode;
      if (isCode && language === '') problems.push(`:${index + 1}: a code fence has no language`);
      continue;
    }
    if (isCode || line === '') continue;
    isList = /^\s*(?:[-*]|\d+\.) /.test(line) || (isList && line.startsWith(' '));
    if (!isList && line.startsWith('    '))
      problems.push(`:${index + 1}: code needs a fence with a language`);
  }
  return problems;
}

/** Returns the sections of a long page that its contents do not link to. */
function missingContents(text: string): string[] {
  const prose = text.replace(/^\s*```[\s\S]*?^\s*```$/gm, '');
  const sections = [...prose.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading);
  if (text.split('\n').length < longPage.lines || sections.length < longPage.sections) return [];
  const contents = prose.slice(0, prose.indexOf('\n## '));
  const missing = sections.filter((heading) => !contents.includes(`(#${anchorOf(heading)})`));
  return missing.map((heading) => `: its table of contents has no link to "${heading}"`);
}

async function brokenLink(root: string, file: string, target: string): Promise<string | undefined> {
  if (/^[a-z]+:/.test(target)) return undefined;
  const [page = '', anchor] = target.split('#');
  const found = page === '' ? path.join(root, file) : path.join(root, path.dirname(file), page);
  if (!(await exists(found))) return 'it does not exist';
  if (anchor === undefined || !found.endsWith('.md')) return undefined;
  return anchorsOf(await readFile(found, 'utf8')).has(anchor) ? undefined : 'the page has no such heading';
}

/** Returns the anchors of a page's headings, as on GitHub. */
function anchorsOf(text: string): Set<string> {
  return new Set([...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading)));
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
