import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { createProgram } from '../arcctl/program.ts';
import { quietIo } from '../arcctl/testing/quiet-io.ts';
import { arcctlPage, commandTable, withCommandTable } from './arcctl-reference.ts';

const page = await readFile(path.resolve(import.meta.dirname, '../..', arcctlPage), 'utf8');

it('the page of arcctl has the commands that --help has: run npx node scripts/api-reference.ts', () => {
  const program = createProgram(quietIo());
  expect(withCommandTable(page, commandTable(program))).toBe(page);
  const help = program.helpInformation();
  for (const { name } of program.commands.map((each) => ({ name: each.name() })))
    expect(help).toContain(`  ${name} `);
});
