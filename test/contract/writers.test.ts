import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { arcKinds, steps } from '#shared/domain';
import { loadManifests } from '#shared/local';

const root = path.resolve(import.meta.dirname, '../..');
const page = await readFile(path.join(root, 'docs/architecture.md'), 'utf8');
const manifests = await loadManifests(path.join(root, 'knative/base'));

interface Row {
  kind: string;
  /** Paths within the object, such as `status` or `status.phase`. */
  fields: string[];
  /** The whole cell, in words. */
  what: string;
  writer: string;
}

const section = page.split('## One writer per field')[1]?.split('\n## ')[0] ?? '';
const table = section
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2)
  .map((line): Row => {
    const [, kind = '', what = '', writer = ''] = line.split('|').map((cell) => cell.trim());
    return { kind, fields: [...what.matchAll(/`([^`]+)`/g)].map(([, field = '']) => field), what, writer };
  });

const kindsWithStatus = arcKinds.filter(({ status }) => status);

function statusFields(kind: string): string[] {
  const schema = arcKinds.find((one) => one.kind === kind)?.schema;
  const json = schema && z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const status = json?.properties?.status;
  return typeof status === 'object' ? Object.keys(status.properties ?? {}) : [];
}

const functions = await readdir(path.join(root, 'functions'));

/** Functions whose role in knative/base allows one of `verbs` on `resource`. */
function mayDo(resource: string, ...verbs: string[]): string[] {
  return manifests
    .filter(({ kind, metadata }) => kind === 'ClusterRole' && functions.includes(nameOf(metadata)))
    .filter(({ rules }) =>
      ((rules ?? []) as { resources?: string[]; verbs: string[] }[]).some(
        (rule) =>
          rule.resources?.some((one) => one === resource || one === '*') &&
          rule.verbs.some((verb) => verb === '*' || verbs.includes(verb)),
      ),
    )
    .map(({ metadata }) => nameOf(metadata))
    .sort();
}

function nameOf({ name }: { name: string }): string {
  // The role of a function in the namespaces that were given to ARC has a name of its own.
  return name.replace(/^arc-/, '').replace(/-tenant$/, '');
}

/** The kinds of the table by resource. */
const resources = {
  orders: 'Order',
  artifactworkflows: 'ArtifactWorkflow',
  artifacttypes: 'ArtifactType',
  clusterartifacttypes: 'ClusterArtifactType',
  endpoints: 'Endpoint',
  secrets: 'rendered Secret',
  workflows: 'Workflow',
  cronworkflows: 'CronWorkflow',
};

/** Functions that the table names for `kind`, of the rows that `picks`. */
function writersOf(kind: string, picks: (row: Row) => boolean): string[] {
  const rows = table.filter((row) => row.kind.split(', ').includes(kind) && picks(row));
  return [...new Set(rows.map(({ writer }) => writer).filter((writer) => functions.includes(writer)))].sort();
}

describe('the table of writers in docs/architecture.md', () => {
  it.each(kindsWithStatus.map(({ kind }) => kind))('has one writer for each status field of %s', (kind) => {
    const named = table.filter((row) => row.kind === kind).flatMap(({ fields }) => fields);
    const status = named.filter((field) => field.startsWith('status'));
    const each = statusFields(kind).map((field) => `status.${field}`);
    // A writer of the whole leaves those alone that the table names beside it.
    const isWhole = status.includes('status');
    expect(each).toEqual(expect.arrayContaining(status.filter((field) => field !== 'status')));
    expect(new Set(status).size).toBe(status.length);
    if (!isWhole) expect(status.sort()).toEqual(each.sort());
  });

  it.each(kindsWithStatus)(
    'names as writers of $kind status exactly those with the right',
    ({ kind, plural }) => {
      const writers = table
        .filter((row) => row.kind === kind && row.fields.some((field) => /^(status|condition)\b/.test(field)))
        .map(({ writer }) => writer)
        .filter((writer) => writer !== 'nobody yet');
      expect(writers.sort()).toEqual(mayDo(`${plural}/status`, 'patch', 'update'));
    },
  );

  const changed = 'change docs/architecture.md, knative/base and test/cluster/rights.ts together';

  it.each(Object.entries(resources))(
    'names as who creates and deletes %s exactly those with the right',
    (resource, kind) => {
      const makers = writersOf(kind, ({ what }) => /^(creation|deletion|everything)/.test(what));
      expect(mayDo(resource, 'create', 'delete', 'deletecollection'), changed).toEqual(makers);
    },
  );

  it.each(Object.entries(resources))(
    'names as who changes %s exactly those with the right',
    (resource, kind) => {
      const writers = writersOf(kind, ({ fields }) =>
        fields.some((field) => /^(spec|metadata)\b/.test(field)),
      );
      const makers = writersOf(kind, ({ what }) => what.startsWith('everything except'));
      expect(mayDo(resource, 'patch', 'update'), changed).toEqual([...writers, ...makers].sort());
    },
  );

  it('names functions that exist', async () => {
    const isFunction = (writer: string) => writer.includes('-') && writer !== 'watch-bridge';
    const named = table.map(({ writer }) => writer).filter(isFunction);
    expect(named.length).toBeGreaterThan(0);
    for (const name of new Set(named)) {
      const source = await readFile(path.join(root, 'functions', name, 'index.ts'), 'utf8');
      expect(source).toContain('export async function handle');
    }
  });
});

/** The functions that a step event calls, by step: a Trigger has the name of its function. */
const triggers = manifests.flatMap(({ kind, metadata, spec }) => {
  const filters = JSON.stringify((spec as { filters?: unknown } | undefined)?.filters ?? []);
  const [, step] = /"step":"([a-z-]+)"/.exec(filters) ?? [];
  return kind === 'Trigger' && step !== undefined ? [{ name: metadata.name, step, filters }] : [];
});

describe('the README of a function', () => {
  const readme = async (name: string) =>
    (await readFile(path.join(root, 'functions', name, 'README.md'), 'utf8')).replaceAll('\n', ' ');

  it('is there for every step', () => {
    expect(triggers.map(({ step }) => step).sort()).toEqual(Object.keys(steps).sort());
  });

  it.each(triggers)(
    'of $name says that it is called for its step and kinds',
    async ({ name, step, filters }) => {
      const [, called = ''] = /\*\*Called for\*\*(.*?)\(\[trigger\]/.exec(await readme(name)) ?? [];
      expect(called).toContain(`step \`${step}\``);
      const kinds = ['Order', 'ArtifactWorkflow', 'Endpoint'];
      expect(kinds.filter((kind) => new RegExp(`\\b${kind}\\b`).test(called))).toEqual(
        kinds.filter((kind) => filters.includes(`"kind":"${kind}"`)),
      );
    },
  );

  it.each(triggers)('of $name names every status field that it writes, and no other', async ({ name }) => {
    const [, writes = ''] = /\*\*Writes\*\*(.*?)\*\*How it behaves/.exec(await readme(name)) ?? [];
    const rows = table.filter(({ writer }) => writer === name);
    const fields = (kind: string) =>
      rows
        .filter((row) => row.kind === kind)
        .flatMap((row) => row.fields.filter((field) => field.startsWith('status')));
    for (const { kind } of kindsWithStatus) {
      const [, listed] = new RegExp(`\`${kind}\\.status((?:\\.\\w+)?\`.*?)(?= - |$)`).exec(writes) ?? [];
      const named = [...(listed ?? '').matchAll(/\.?(\w+)`/g)].map(([, field]) => `status.${field}`);
      const wanted = fields(kind).filter((field) => field !== 'status');
      const whole = fields(kind).includes('status');
      expect(listed !== undefined, `${kind}.status`).toBe(whole || wanted.length > 0);
      if (!whole) expect(named.sort()).toEqual(wanted.sort());
    }
  });
});
