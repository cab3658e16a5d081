import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { version } from '../version/version.ts';

/** Where the version is written beside package.json: names of the image in manifests and commands. */
async function namedVersions(): Promise<Map<string, string[]>> {
  const entries = await readdir('knative', { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
  const found = new Map<string, string[]>();
  for (const file of [...files, 'package-lock.json', 'scripts/image/README.md']) {
    const text = await readFile(file, 'utf8');
    const own = /(?:artifact-conduit:v|arc\/functions:v|newTag: v)(\d+\.\d+\.\d+\S*?)(?=[\s`)]|$)/gm;
    const versions = [...text.matchAll(own)].map(([, each = '']) => each);
    if (file === 'package-lock.json') versions.push(JSON.parse(text).version);
    if (versions.length > 0) found.set(file, versions);
  }
  return found;
}

describe('the version of package.json', () => {
  it('is the one that manifests and documents name', async () => {
    const found = await namedVersions();
    expect(found.size).toBeGreaterThan(10);
    for (const [file, versions] of found) expect([...new Set(versions)], file).toEqual([version]);
  });

  it('is the latest of CHANGELOG.md', async () => {
    const headings = (await readFile('CHANGELOG.md', 'utf8')).match(/^## .*$/gm) ?? [];
    expect(headings[0]).toBe('## Unreleased');
    expect(headings[1]).toMatch(new RegExp(`^## ${version} - \\d{4}-\\d{2}-\\d{2}$`));
  });
});
