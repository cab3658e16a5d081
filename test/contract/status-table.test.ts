import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  arcKinds,
  conditionsFor,
  deliveredCondition,
  endpointConditions,
  eventReasons,
  holdReasons,
  validationReasons,
} from '#shared/domain';
import { authenticatedReasons, exitCodes, reachableReasons } from '#shared/transfer';
import { parseStatusTable } from '../../scripts/arcctl/model/status-table.ts';
import { isProduction } from '../../scripts/checks/source-tree.ts';
import { endpoint } from '../../shared/domain/testing/objects.ts';

const root = path.resolve(import.meta.dirname, '../..');
const page = await readFile(path.join(root, 'docs/status.md'), 'utf8');

const rows = parseStatusTable(page);

function named(what: string): string[] {
  return rows.flatMap((row) => (row.what === what ? [row.name] : [])).sort();
}

interface Schema {
  enum?: string[];
  properties?: Record<string, Schema>;
}

function phasesOf(kind: string): string[] {
  const schema = arcKinds.find((one) => one.kind === kind)?.schema;
  const json = schema && (z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema);
  return json?.properties?.status?.properties?.phase?.enum ?? [];
}

const time = new Date('2026-01-01T00:00:00Z');
const state = { phase: 'Pending', reason: 'Pending', message: '' } as const;
const ofOrders = [...conditionsFor(state, 1, [], time).map(({ type }) => type), deliveredCondition];
const fine = { status: 'True', reason: 'Valid', message: '' } as const;
const findings = { validated: fine, reachable: fine, authenticated: fine, certificateExpiry: time };
const ofEndpoints = [
  ...endpointConditions(endpoint('one'), findings, time).map(({ type }) => type),
  deliveredCondition,
];
const endpointReasons = new Set([...validationReasons, ...reachableReasons, ...authenticatedReasons]);

const tables: [string, Iterable<string>][] = [
  ['Order phase', phasesOf('Order')],
  ['Order reason', ['NoArtifacts']],
  ['artifact phase', ['Invalid', ...phasesOf('ArtifactWorkflow')]],
  ['artifact waits', Object.keys(holdReasons)],
  ['results.reason', Object.keys(exitCodes)],
  ['condition of an Order', ofOrders],
  // The same three: sync-status writes them after kstatus, too.
  ['condition of an ArtifactWorkflow', ofOrders],
  ['condition of an Endpoint', ofEndpoints],
  ['Endpoint reason', endpointReasons],
  ['Event', [...eventReasons, 'the reasons of what an artifact waits for']],
];

describe('the table in docs/status.md', () => {
  it.each(tables)('has each name of: %s', (what, names) => {
    expect(named(what)).toEqual([...names].sort());
  });

  it('has no other rows, and says of each what it means and what to do', () => {
    expect([...new Set(rows.map(({ what }) => what))]).toEqual(
      expect.arrayContaining(tables.map(([what]) => what)),
    );
    expect(new Set(rows.map(({ what }) => what)).size).toBe(tables.length);
    for (const { name, meaning, help } of rows) expect([name, meaning, help]).not.toContain('');
  });

  it('names only what is said somewhere beside the list of reasons', async () => {
    const code = await production();
    const uses = (name: string) => code.split(`'${name}'`).length - 1;
    // The holds are keys of a record, the others stand in quotes in their list.
    expect(Object.keys(holdReasons).filter((name) => uses(name) < 1)).toEqual([]);
    expect([...eventReasons, ...endpointReasons].filter((name) => uses(name) < 2)).toEqual([]);
  });
});

async function production(): Promise<string> {
  const texts: string[] = [];
  for await (const file of glob('{functions,shared}/**/*.ts', { cwd: root }))
    if (isProduction(file)) texts.push(await readFile(path.join(root, file), 'utf8'));
  return texts.join('\n');
}
