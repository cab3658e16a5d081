import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { arcKinds } from '#shared/domain';
import { loadManifests } from '#shared/embedded';

const root = path.resolve(import.meta.dirname, '../..');
const page = await readFile(path.join(root, 'docs/architecture.md'), 'utf8');
const manifests = await loadManifests(path.join(root, 'knative/base'));

interface Row {
  kind: string;
  /** Paths within the object, such as `status` or `status.phase`. */
  fields: string[];
  writer: string;
}

const section = page.split('## One writer per field')[1]?.split('\n## ')[0] ?? '';
const table = section
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2)
  .map((line): Row => {
    const [, kind = '', what = '', writer = ''] = line.split('|').map((cell) => cell.trim());
    return { kind, fields: [...what.matchAll(/`([^`]+)`/g)].map(([, field = '']) => field), writer };
  });

const kindsWithStatus = arcKinds.filter(({ status }) => status);

function statusFields(kind: string): string[] {
  const schema = arcKinds.find((one) => one.kind === kind)?.schema;
  const json = schema && z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const status = json?.properties?.status;
  return typeof status === 'object' ? Object.keys(status.properties ?? {}) : [];
}

/** ServiceAccounts of knative/base whose role allows a write of `resource`. */
function mayWrite(resource: string): string[] {
  return manifests
    .filter(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name.startsWith('arc-'))
    .filter(({ rules }) =>
      ((rules ?? []) as { resources?: string[]; verbs: string[] }[]).some(
        ({ resources = [], verbs }) =>
          resources.includes(resource) && verbs.some((verb) => ['patch', 'update', '*'].includes(verb)),
      ),
    )
    .map(({ metadata }) => metadata.name.replace(/^arc-/, ''))
    .sort();
}

describe('the table of writers in docs/architecture.md', () => {
  it.each(kindsWithStatus.map(({ kind }) => kind))('has one writer for each status field of %s', (kind) => {
    const named = table.filter((row) => row.kind === kind).flatMap(({ fields }) => fields);
    const status = named.filter((field) => field.startsWith('status'));
    const whole = ['status'];
    const each = statusFields(kind).map((field) => `status.${field}`);
    expect([whole, each.sort()]).toContainEqual(status.sort());
  });

  it.each(kindsWithStatus)(
    'names as writers of $kind status exactly those with the right',
    ({ kind, plural }) => {
      const writers = table
        .filter((row) => row.kind === kind && row.fields.some((field) => field.startsWith('status')))
        .map(({ writer }) => writer)
        .filter((writer) => writer !== 'nobody yet');
      expect(writers.sort()).toEqual(mayWrite(`${plural}/status`));
    },
  );

  it('names functions that exist', async () => {
    const functions = table.map(({ writer }) => writer).filter((writer) => writer.includes('-'));
    expect(functions.length).toBeGreaterThan(0);
    for (const name of new Set(functions)) {
      const source = await readFile(path.join(root, 'functions', name, 'index.ts'), 'utf8');
      expect(source).toContain('export async function handle');
    }
  });
});
