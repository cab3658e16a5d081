import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { cases } from '../release/compatibility/cases.ts';
import { compatibilityFile, compatibilityPage, pageProblems } from '../release/compatibility/page.ts';
import { registries } from '../release/compatibility/registries.ts';

const names = Object.keys(registries);

describe('the page about compatibility', () => {
  it('has a row for each case and a cell for each registry, and all of them hold', async () => {
    const page = await readFile(compatibilityFile, 'utf8');
    expect(pageProblems(page, cases, names)).toEqual([]);
    expect(page).toContain(`${cases.length * names.length} combinations were tested, and all of them work.`);
  });

  it('is incomplete without a case, a registry or an outcome', () => {
    const outcomes = cases.flatMap(({ tool, format }) =>
      names.map((registry) => ({ tool, format, registry, failure: undefined })),
    );
    const page = compatibilityPage(outcomes, names, []);
    expect(pageProblems(page, cases, names)).toEqual([]);
    expect(pageProblems(page, cases.slice(1), names)).toEqual([expect.stringMatching(/^no case for/)]);
    const less = compatibilityPage(outcomes.slice(names.length), names, []);
    expect(pageProblems(less, cases, names)).toEqual([expect.stringMatching(/^no row/)]);
    const part = compatibilityPage(outcomes.slice(1), names, []);
    expect(pageProblems(part, cases, names)).toEqual([expect.stringMatching(/^incomplete/)]);
    expect(pageProblems(compatibilityPage(outcomes, names.toReversed(), []), cases, names)).toHaveLength(1);
  });
});
