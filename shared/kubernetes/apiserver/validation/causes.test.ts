import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { bounded, fieldPath, shownValue, toCauses, typeName } from './causes.ts';

function of(schema: z.ZodType, value: unknown) {
  const result = schema.safeParse(value);
  return result.success ? [] : toCauses(result.error.issues, value);
}

describe('toCauses', () => {
  it('checks a union by the variant closest to the value', () => {
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

  it('names keys that a map does not allow', () => {
    expect(of(z.record(z.enum(['a']), z.string()), { a: 'x', b: 'y' })).toMatchObject([{ field: 'b' }]);
    expect(of(z.record(z.string().max(1), z.string()), { long: 'y' })).toMatchObject([
      { reason: 'FieldValueInvalid', field: 'long' },
    ]);
  });

  it('ignores inherited properties', () => {
    expect(of(z.object({ constructor: z.string() }), {})).toMatchObject([{ reason: 'FieldValueRequired' }]);
  });
});

describe('bounded', () => {
  it('keeps a hundred causes', () => {
    const causes = Array.from({ length: 100 }, () => ({ reason: 'r', message: 'm' }));
    expect(bounded(causes)).toBe(causes);
  });
});

describe('shownValue', () => {
  it.each([
    ['a"b', '"a\\"b"'],
    [5, '5'],
    [undefined, 'null'],
    [{ a: [1] }, '{"a":[1]}'],
    ['ftp://me:secret@host', '"ftp://***@host"'],
  ])('shows %j', (value, text) => {
    expect(shownValue(value)).toBe(text);
  });
  it('cuts long values', () => {
    expect(shownValue('x'.repeat(5000)).length).toBeLessThan(200);
  });
});

describe('typeName', () => {
  it.each([
    [null, 'null'],
    [undefined, 'null'],
    [[], 'array'],
    [{}, 'object'],
    [1, 'integer'],
    [1.5, 'number'],
    ['', 'string'],
    [true, 'boolean'],
  ])('%j is %s', (value, name) => {
    expect(typeName(value)).toBe(name);
  });
});

describe('fieldPath', () => {
  it.each([
    [[], ''],
    [['spec'], 'spec'],
    [['spec', 'artifacts', 0, 'type'], 'spec.artifacts[0].type'],
    [['metadata', 'labels', 'example.com/team'], 'metadata.labels[example.com/team]'],
    [['status', 'artifactWorkflows', 'index-1', 'phase'], 'status.artifactWorkflows.index-1.phase'],
    [['a', ''], 'a[]'],
  ])('%j is %s', (steps, path) => {
    expect(fieldPath(steps)).toBe(path);
  });
  it('cuts very long keys', () => {
    expect(fieldPath(['a', ' '.repeat(9000)]).length).toBeLessThan(300);
  });
});
