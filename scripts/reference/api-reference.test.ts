import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { type ArcKind, arcKinds, settingsTable } from '#shared/domain';
import { apiReference, referenceFile, staleReference } from './api-reference.ts';

const [order] = arcKinds;

function kindWith(schema: z.ZodObject): ArcKind {
  if (!order) throw new Error('there are no kinds');
  return { ...order, schema };
}

function rowsFor(schema: z.ZodObject): string[] {
  const [kinds = ''] = apiReference([kindWith(schema)]).split('## Settings');
  return kinds.split('\n').filter((line) => line.startsWith('| `'));
}

describe('the API reference', () => {
  it('has a section for every kind', () => {
    const text = apiReference(arcKinds);
    for (const { kind, description } of arcKinds) expect(text).toContain(`## ${kind}\n\n${description}\n`);
  });

  it('has a row for every field, those of lists and maps included', () => {
    const inner = z.object({ name: z.string().describe('A name.') });
    const schema = z.object({
      list: z.array(inner).describe('Some.'),
      map: z.record(z.string(), inner).optional().describe('Others.'),
      free: z.record(z.string(), z.unknown()).optional().describe('Anything.'),
    });
    expect(rowsFor(schema)).toEqual([
      '| `list` | list of objects | required | Some. |',
      '| `list[].name` | string | required | A name. |',
      '| `map` | map to object |  | Others. |',
      '| `map.<key>.name` | string | required | A name. |',
      '| `free` | free object |  | Anything. |',
    ]);
  });

  it('shows defaults, bounds and allowed values', () => {
    const schema = z.object({
      usage: z.enum(['In', 'Out']).default('In').describe('Which way | or <both>.'),
      limit: z.int().min(1).max(9).optional().describe('How many.'),
      count: z.int().optional().describe('So many.'),
    });
    expect(rowsFor(schema)).toEqual([
      '| `usage` | `In`, `Out` | default `In` | Which way \\| or &lt;both>. |',
      '| `limit` | integer | at least 1, at most 9 | How many. |',
      '| `count` | integer |  | So many. |',
    ]);
  });

  it('describes every field of every kind', () => {
    const empty = apiReference(arcKinds)
      .split('\n')
      .filter((line) => line.endsWith('|  |'));
    expect(empty).toEqual([]);
  });

  it('has a row for every setting of the operator', () => {
    const text = apiReference(arcKinds);
    for (const key of Object.keys(settingsTable)) expect(text).toContain(`\n| \`${key}\` | `);
  });

  it('is stale when the file differs from the kinds or is missing, and says what to do', async () => {
    const root = await mkdtemp(path.join(tmpdir(), 'reference-'));
    onTestFinished(() => rm(root, { recursive: true }));
    const problem = expect.stringContaining('run npx node scripts/api-reference.ts');
    expect(await staleReference(root)).toEqual(problem);
    await mkdir(path.join(root, 'docs'));
    await writeFile(path.join(root, referenceFile), 'old');
    expect(await staleReference(root)).toEqual(problem);
    await writeFile(path.join(root, referenceFile), apiReference(arcKinds));
    expect(await staleReference(root)).toBeUndefined();
  });
});
