import { describe, expect, it } from 'vitest';
import { owners } from './owners.ts';

describe('owners', () => {
  it('name one writer for each thing', () => {
    const things = owners.flatMap(({ kind, fields }) => fields.map((field) => `${kind} ${field}`));
    expect(new Set(things).size).toBe(things.length);
  });
});
