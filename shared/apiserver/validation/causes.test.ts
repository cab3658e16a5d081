import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { bounded, toCauses } from './causes.ts';

function of(schema: z.ZodType, value: unknown) {
  const result = schema.safeParse(value);
  return result.success ? [] : toCauses(result.error.issues, value);
}

describe('toCauses', () => {
  it('judges a union by the variant the value comes closest to', () => {
    const schema = z.object({
      a: z.union([z.object({ x: z.string(), y: z.string() }), z.object({ z: z.string() }), z.string()]),
    });
    expect(of(schema, { a: { z: 1 } })).toMatchObject([{ reason: 'FieldValueTypeInvalid', field: 'a.z' }]);
  });

  it('reads a missing union as required', () => {
    expect(of(z.object({ a: z.union([z.string(), z.int()]) }), {})).toEqual([
      { reason: 'FieldValueRequired', message: 'Required value', field: 'a' },
    ]);
  });

  it('names keys a map does not take', () => {
    expect(of(z.record(z.enum(['a']), z.string()), { a: 'x', b: 'y' })).toMatchObject([{ field: 'b' }]);
    expect(of(z.record(z.string().max(1), z.string()), { long: 'y' })).toMatchObject([
      { reason: 'FieldValueInvalid', field: 'long' },
    ]);
  });

  it('does not look at what an object inherits', () => {
    expect(of(z.object({ constructor: z.string() }), {})).toMatchObject([{ reason: 'FieldValueRequired' }]);
  });
});

describe('bounded', () => {
  it('leaves a hundred causes alone', () => {
    const causes = Array.from({ length: 100 }, () => ({ reason: 'r', message: 'm' }));
    expect(bounded(causes)).toBe(causes);
  });
});
