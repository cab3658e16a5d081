import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { toStructural } from './structural-schema.ts';

function structural(schema: z.ZodType) {
  const json = z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input', unrepresentable: 'any' });
  return toStructural(json as Record<string, unknown>);
}

describe('toStructural', () => {
  it("drops zod's default bounds of integers, and keeps explicit ones", () => {
    expect(structural(z.int())).toEqual({ type: 'integer', format: 'int64' });
    expect(structural(z.int32())).toEqual({ type: 'integer', format: 'int32' });
    expect(structural(z.int().min(0).max(9))).toEqual({
      type: 'integer',
      format: 'int64',
      minimum: 0,
      maximum: 9,
    });
  });

  it('drops patterns implied by a format and very long ones, and keeps short ones', () => {
    expect(structural(z.iso.datetime())).toEqual({ type: 'string', format: 'date-time' });
    expect(structural(z.base64())).toEqual({ type: 'string', format: 'byte' });
    expect(structural(z.string().regex(/^a$/))).toEqual({ type: 'string', pattern: '^a$' });
    expect(structural(z.string().regex(new RegExp('a'.repeat(300))))).toEqual({ type: 'string' });
  });

  it('mentions additional properties only for maps', () => {
    expect(structural(z.strictObject({ a: z.string() }))).not.toHaveProperty('additionalProperties');
    expect(structural(z.record(z.string(), z.string()))).toEqual({
      type: 'object',
      additionalProperties: { type: 'string' },
    });
  });

  it('marks loose objects, catch-alls and free values as preserved', () => {
    const preserved = { 'x-kubernetes-preserve-unknown-fields': true };
    expect(structural(z.looseObject({ a: z.string() }))).toMatchObject({ ...preserved, required: ['a'] });
    expect(structural(z.object({ a: z.string() }).catchall(z.string()))).toMatchObject(preserved);
    expect(structural(z.record(z.string(), z.unknown()))).toEqual({ type: 'object', ...preserved });
    expect(structural(z.unknown())).toEqual(preserved);
    expect(structural(z.any().describe('x'))).toEqual({ description: 'x', ...preserved });
  });

  it('keeps descriptions, defaults, enums, nullable and x-kubernetes extensions', () => {
    expect(
      structural(
        z.object({
          a: z.enum(['x', 'y']).default('x').describe('A.'),
          b: z.array(z.string()).meta({ 'x-kubernetes-list-type': 'set' }),
          c: z.string().nullable(),
        }),
      ),
    ).toMatchObject({
      type: 'object',
      required: ['b', 'c'],
      properties: {
        a: { type: 'string', enum: ['x', 'y'], default: 'x', description: 'A.' },
        b: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        c: { type: 'string', nullable: true },
      },
    });
  });

  it('ends a recursive schema as a free value', () => {
    interface Tree {
      name: string;
      children?: Tree[] | undefined;
    }
    const tree: z.ZodType<Tree> = z.object({
      name: z.string(),
      children: z.lazy(() => tree.array()).optional(),
    });
    const schema = structural(z.object({ root: tree }));
    expect(JSON.stringify(schema)).not.toContain('$ref');
    expect(schema.properties?.root?.properties?.name).toEqual({ type: 'string' });
  });

  it('inlines named schemas', () => {
    const shared = z.object({ a: z.string() }).meta({ id: 'Shared' });
    const schema = structural(z.object({ x: shared, y: shared }));
    expect(schema.properties?.y?.properties?.a).toEqual({ type: 'string' });
  });
});
