import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { holdReasons } from '#shared/domain';

const page = await readFile(path.resolve(import.meta.dirname, '../../docs/status.md'), 'utf8');

/** The rows of the table: what it is that has a name, its name, its meaning and what to do. */
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2)
  .map((line) => line.split('|').map((cell) => cell.trim()));

function named(what: string): string[] {
  return rows.flatMap(([, kind, name = '']) => (kind === what ? name.split(', ') : [])).sort();
}

describe('the table in docs/status.md', () => {
  it.each([['artifact waits', Object.keys(holdReasons)]])('has each name of: %s', (what, names) => {
    expect(named(what)).toEqual([...names].sort());
  });

  it('says of each what it means and what to do', () => {
    for (const [, , name, meaning, help] of rows) expect([name, meaning, help]).not.toContain('');
  });
});
