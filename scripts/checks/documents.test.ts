import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { checkDocuments } from './documents.ts';

async function treeOf(files: Record<string, string>): Promise<string> {
  const root = await mkdtemp(path.join(tmpdir(), 'documents-'));
  onTestFinished(() => rm(root, { recursive: true }));
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.join(root, path.dirname(file)), { recursive: true });
    await writeFile(path.join(root, file), text);
  }
  return root;
}

it('accepts links, anchors and paths that exist', async () => {
  const root = await treeOf({
    'README.md':
      '[page](docs/page.md#a-title-of-two) `docs/page.md` `docs/` [web](https://example.com) `test/*/x`',
    'docs/page.md': '# A title, of two\n[here](#a-title-of-two) [up](../README.md)',
    'scripts/a.ts': '// See docs/page.md.',
  });
  expect(await checkDocuments(root)).toEqual([]);
});

it('names the file and what it leads to when that does not exist', async () => {
  const root = await treeOf({
    'README.md': '[page](docs/none.md) [page](docs/page.md#none) `shared/none/x.ts`',
    'docs/page.md': '# Title',
    'scripts/a.ts': '// See docs/none.md.',
  });
  expect(await checkDocuments(root)).toEqual([
    'README.md links to docs/none.md: it does not exist',
    'README.md links to docs/page.md#none: the page has no such heading',
    'README.md names shared/none/x.ts, which does not exist',
    'scripts/a.ts cites docs/none.md, which does not exist',
  ]);
});

it('wants a fence with a language around code, and contents in a long page', async () => {
  const sections = ['One', 'Two', 'Three', 'Four', 'Five'];
  const long = [...sections.map((name) => `## ${name}`), ...Array(100).fill('text')].join('\n\n');
  const root = await treeOf({
    'README.md': 'Run\n\n    npm ci\n\n- an item\n\n    that goes on\n',
    'docs/bare.md': '```\nnpm ci\n```\n\n```sh\n    indented\n```\n',
    'docs/long.md': `# Long\n\n[One](#one) [Two](#two) [Three](#three) [Four](#four)\n\n${long}`,
  });
  expect((await checkDocuments(root)).toSorted()).toEqual([
    'README.md:3: code needs a fence with a language',
    'docs/bare.md:1: a code fence has no language',
    'docs/long.md: its table of contents has no link to "Five"',
  ]);
});
