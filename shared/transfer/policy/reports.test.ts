import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { grypeReport, trivyReport } from '../testing/reports.ts';
import { transferFailure } from '../testing/transfer-failure.ts';
import { readReports } from './reports.ts';

const digest = `sha256:${'a'.repeat(64)}`;
const { signal } = new AbortController();
let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-reports-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const file = (name: string) => path.join(folder, name);
const write = (name: string, value: unknown) => writeFile(file(name), JSON.stringify(value));

describe('the reports of a scanner', () => {
  it('are the JSON files of a folder; others are ignored', async () => {
    await write('trivy.json', trivyReport(digest));
    await write('grype.json', grypeReport({ imageID: digest }));
    await write('sbom.cdx.json', {
      bomFormat: 'CycloneDX',
      metadata: { component: { version: digest } },
      components: [{ type: 'library', name: 'musl' }],
    });
    await write('other.json', { hello: 'world' });
    await writeFile(file('trivy.log'), 'not JSON');
    const { scans, described } = await readReports(folder, signal);
    expect(scans.map(({ scanner }) => scanner)).toEqual(['grype', 'trivy']);
    expect(described).toEqual(new Set([digest]));
  });

  it.each<[string, () => Promise<unknown>, RegExp]>([
    ['a report that is cut off', () => writeFile(file('a.json'), '{"SchemaVersion": 2'), /it is not JSON/],
    ['an empty report', () => writeFile(file('a.json'), ''), /it is not JSON/],
    ['a folder', () => symlink(folder, file('a.json')), /ELOOP/],
    ['a link to another file', () => symlink('/etc/passwd', file('a.json')), /ELOOP/],
    ['a pipe', async () => execFileSync('mkfifo', [file('a.json')]), /it is not a file/],
    [
      'a file that is too large',
      async () => {
        await writeFile(file('a.json'), '{}');
        await truncate(file('a.json'), 64 * 1024 * 1024 + 1);
      },
      /more than 64 MiB/,
    ],
    ['no folder', () => rm(folder, { recursive: true }), /ENOENT/],
  ])('cannot be %s', async (_, prepare, why) => {
    await prepare();
    const failure = await transferFailure(readReports(folder, signal));
    expect(failure).toMatchObject({ reason: 'config' });
    expect(failure.message).toMatch(why);
  });
});
