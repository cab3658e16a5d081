import { glob, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { arcKinds } from '#shared/domain';
import { exitCodes } from '#shared/transfer';
import { exitCodes as arcctlExitCodes } from '../../scripts/arcctl/core/failure.ts';
import { optionalFeatures } from '../../scripts/standalone/optional-features.ts';

/** The rows of the table on a page whose first columns have these headings. */
async function rowsOf(page: string, ...headings: string[]): Promise<string[][]> {
  const lines = (await readFile(page, 'utf8')).split('\n').map((line) => line.split('|').slice(1, -1));
  const cells = lines.map((line) => line.map((cell) => cell.trim()));
  const start = cells.findIndex((line) => headings.every((heading, column) => line[column] === heading));
  expect(start, `a table "${headings}" in ${page}`).toBeGreaterThan(0);
  const length = cells.slice(start).findIndex((line) => line.length === 0);
  return cells.slice(start + 2, start + length);
}

const codesIn = (rows: string[][], column: number) =>
  rows.flatMap((row) => (row[column] ?? '').split(', ').map(Number)).sort((a, b) => a - b);

describe('the table of Endpoint.spec in docs/orders.md', async () => {
  const rows = await rowsOf('docs/orders.md', '`Endpoint.spec`', 'meaning');
  const schema = arcKinds.find(({ kind }) => kind === 'Endpoint')?.schema;
  const json = z.toJSONSchema(schema ?? z.never(), { io: 'input', unrepresentable: 'any' });
  const spec = z
    .object({ properties: z.record(z.string(), z.looseObject({ enum: z.array(z.string()).optional() })) })
    .parse(json.properties?.spec);

  it('has a row for every field, with every value of an enumeration', () => {
    const missing = Object.entries(spec.properties).flatMap(([field, { enum: values = [] }]) => {
      const row = rows.find(([name]) => new RegExp(`\`${field}\\b`).test(name ?? ''));
      return row === undefined ? [field] : values.filter((value) => !row[1]?.includes(`\`${value}\``));
    });
    expect(missing).toEqual([]);
  });

  it('names every type that an artifact type in knative/base takes', async () => {
    const types = new Set<string>();
    for await (const file of glob('knative/base/artifact-types/*.yaml'))
      for (const document of parseAllDocuments(await readFile(file, 'utf8'))) {
        const rules = z
          .object({
            spec: z.object({
              rules: z.object({ srcTypes: z.array(z.string()), dstTypes: z.array(z.string()) }),
            }),
          })
          .safeParse(document.toJS());
        for (const type of Object.values(rules.data?.spec.rules ?? {}).flat()) types.add(type);
      }
    expect(types.size).toBeGreaterThan(5);
    const row = rows.find(([name]) => name === '`type`')?.[1];
    expect([...types].filter((type) => !row?.includes(`\`${type}\``))).toEqual([]);
  });
});

describe('the tables of exit codes', () => {
  const ofTransfers = Object.values(exitCodes);

  it('of the transfer-worker has each code with its reason', async () => {
    const rows = await rowsOf('functions/transfer-worker/README.md', 'reason');
    const wanted = [
      ...Object.entries(exitCodes).map(([reason, code]) => [`\`${reason}\``, `${code}`]),
      ['', '1'],
    ];
    expect(rows.map(([reason, code]) => [reason, code])).toEqual(wanted);
  });

  it('of arc-transfer has each code', async () => {
    const rows = await rowsOf('docs/arc-transfer.md', 'code');
    expect(codesIn(rows, 0)).toEqual([0, 1, 2, ...ofTransfers, 130, 141]);
  });

  it('of arcctl has each code', async () => {
    const rows = await rowsOf('docs/arcctl.md', 'code');
    expect(codesIn(rows, 0)).toEqual(Object.values(arcctlExitCodes));
  });
});

it('the table of features in docs/operate/install.md has a row for each feature that can be disabled', async () => {
  const rows = await rowsOf('docs/operate/install.md', 'feature');
  const named = rows.map(([, components]) => components);
  expect(named.toSorted()).toEqual(optionalFeatures.map((name) => `\`no-${name}\`, \`${name}\``).toSorted());
});
