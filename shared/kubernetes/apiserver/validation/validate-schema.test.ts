import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ArcError } from '#shared/base/errors';
import { fc } from '#shared/base/testing';
import type { KindDefinition, KubeObject } from '../kinds/definition.ts';
import { anOrder, sampleOrder, sampleSecret } from '../testing/sample-kinds.ts';
import { validateSchema } from './validate-schema.ts';

function causes(spec: Record<string, unknown>) {
  return validateSchema(sampleOrder, anOrder(spec)).causes.map((cause) => [
    cause.reason,
    cause.field,
    cause.message,
  ]);
}

describe('validateSchema on a valid object', () => {
  it('fills in defaults and leaves the metadata alone', () => {
    const order = anOrder();
    order.metadata = { ...order.metadata, resourceVersion: '5', custom: { a: 1 } };
    const { object, causes: none } = validateSchema(sampleOrder, order);
    expect(none).toEqual([]);
    expect(object.spec).toEqual({ artifacts: [{ type: 'oci' }], mode: 'Rerun', suspend: false });
    expect(object.metadata).toBe(order.metadata);
    expect(order.spec).not.toHaveProperty('mode');
  });

  it('skips fields that are identical to the stored object', () => {
    const old = anOrder({ mode: 'Tightened since', artifacts: 'none' });
    const patched = { ...old, status: { phase: 'Done' } };
    expect(validateSchema(sampleOrder, patched, old)).toEqual({ object: patched, causes: [] });
    const { spec: _spec, ...without } = old;
    expect(validateSchema(sampleOrder, without, old).causes[0]?.field).toBe('spec');
  });

  it('loses nothing the schema allows', () => {
    const spec = {
      artifacts: [{ type: 'a', spec: { any: { thing: [null, 1] } } }],
      extra: { x: null },
      kept: { known: 'k', unknown: { deep: 1 } },
      note: null,
      port: 'http',
      mode: 'Keep',
      suspend: true,
    };
    expect(validateSchema(sampleOrder, anOrder(spec)).object).toEqual(anOrder(spec));
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(
        fc.record({
          limit: fc.integer({ min: 0, max: 10 }),
          extra: fc.jsonValue(),
          note: fc.option(fc.string()),
        }),
        (spec) => {
          const first = validateSchema(sampleOrder, anOrder(spec));
          expect(first.causes).toEqual([]);
          expect(first.object.spec).toMatchObject(spec);
          expect(validateSchema(sampleOrder, first.object)).toEqual(first);
        },
      ),
    );
  });
});

describe('validateSchema on an invalid object', () => {
  it('names a missing field as required', () => {
    expect(causes({ artifacts: [{}] })).toEqual([
      ['FieldValueRequired', 'spec.artifacts[0].type', 'Required value'],
    ]);
    const bare: KubeObject = { apiVersion: 'v', kind: 'Order', metadata: { name: 'a' } };
    expect(validateSchema(sampleOrder, bare).causes).toEqual([
      { reason: 'FieldValueRequired', field: 'spec', message: 'Required value' },
    ]);
  });

  it('lists the values that are supported', () => {
    expect(causes({ mode: 'Never' })).toEqual([
      [
        'FieldValueNotSupported',
        'spec.mode',
        'Unsupported value: "Never": supported values: "Rerun", "Keep"',
      ],
    ]);
    expect(causes({ target: { via: 'ftp' } })).toEqual([
      [
        'FieldValueNotSupported',
        'spec.target.via',
        'Unsupported value: "ftp": supported values: "http", "file"',
      ],
    ]);
  });

  it.each([
    [{ suspend: 'yes' }, 'spec.suspend', 'boolean', 'string'],
    [{ limit: 1.5 }, 'spec.limit', 'integer', 'number'],
    [{ artifacts: {} }, 'spec.artifacts', 'array', 'object'],
    [{ artifacts: [null] }, 'spec.artifacts[0]', 'object', 'null'],
    [{ parameters: [] }, 'spec.parameters', 'object', 'array'],
    [{ port: true }, 'spec.port', 'number or string', 'boolean'],
    [{ limit: 'many' }, 'spec.limit', 'integer', 'string'],
  ])('names the type of %j', (spec, field, expected, is) => {
    expect(causes(spec)).toEqual([
      [
        'FieldValueTypeInvalid',
        field,
        `Invalid value: "${is}": ${field} in body must be of type ${expected}: "${is}"`,
      ],
    ]);
  });

  it.each([
    [
      { artifacts: [{ type: 'x'.repeat(64) }] },
      'FieldValueTooLong',
      'Too long: may not be more than 63 bytes',
    ],
    [{ artifacts: [{ type: '' }] }, 'FieldValueInvalid', 'should be at least 1 chars long'],
    [{ artifacts: [{ type: 'a', name: 'A1' }] }, 'FieldValueInvalid', "should match '^[a-z-]+$'"],
    [
      { artifacts: [] },
      'FieldValueInvalid',
      'Invalid value: 0: spec.artifacts in body should have at least 1 items',
    ],
    [
      { artifacts: Array(4).fill({ type: 'a' }) },
      'FieldValueTooMany',
      'Too many: 4: must have at most 3 items',
    ],
    [
      { limit: 11 },
      'FieldValueInvalid',
      'Invalid value: 11: spec.limit in body should be less than or equal to 10',
    ],
    [{ limit: -1 }, 'FieldValueInvalid', 'should be greater than or equal to 0'],
    [{ ratio: 0 }, 'FieldValueInvalid', 'should be greater than 0'],
    [{ ratio: 0.7 }, 'FieldValueInvalid', 'should be a multiple of 0.5'],
    [
      { remote: 'nowhere' },
      'FieldValueInvalid',
      'Invalid value: "nowhere": spec.remote in body must be of type url',
    ],
  ])('reports the error in %j', (spec, reason, message) => {
    const found = causes(spec);
    expect(found.map(([is]) => is)).toEqual([reason]);
    expect(found[0]?.[2]).toContain(message);
  });

  it('names every wrong field and returns the object as it was', () => {
    const order = anOrder({ limit: 'x', mode: 1, artifacts: [{}, {}] });
    const result = validateSchema(sampleOrder, order);
    expect(result.object).toBe(order);
    expect(result.causes.map((cause) => cause.field).toSorted()).toEqual([
      'spec.artifacts[0].type',
      'spec.artifacts[1].type',
      'spec.limit',
      // It is neither of the type nor one of the values.
      'spec.mode',
      'spec.mode',
    ]);
  });

  it('checks the types inside metadata', () => {
    const order = anOrder();
    const metadata = { name: 'one', labels: { a: 1 }, finalizers: 'x', generation: 1.5 } as unknown;
    order.metadata = metadata as KubeObject['metadata'];
    expect(validateSchema(sampleOrder, order).causes.map((cause) => cause.field)).toEqual([
      'metadata.labels.a',
      'metadata.finalizers',
      'metadata.generation',
    ]);
  });

  it('never exposes values of a Secret, nor credentials in a URL', () => {
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's' },
      data: { password: 'hunter2!' },
    };
    const shown = JSON.stringify(validateSchema(sampleSecret, secret).causes);
    expect(shown).toContain('data.password');
    expect(shown).not.toContain('hunter2');
    const [cause] = causes({ mode: 'https://user:hunter2@host/x' });
    expect(cause?.[2]).toContain('https://***@host/x');
  });

  it('reports at most a hundred errors, and that further errors are omitted', () => {
    const many: KindDefinition = { ...sampleOrder, schema: z.object({ spec: z.array(z.string()) }) };
    const order = { ...anOrder(), spec: Array(1000).fill(1) };
    const found = validateSchema(many, order).causes;
    expect(found).toHaveLength(101);
    expect(found.at(-1)?.message).toBe('further errors omitted');
  });

  it('names unknown keys of a strict object as forbidden', () => {
    const strict: KindDefinition = { ...sampleOrder, schema: z.object({ spec: z.strictObject({}) }) };
    expect(validateSchema(strict, { ...anOrder(), spec: { a: 1 } }).causes).toEqual([
      { reason: 'FieldValueForbidden', message: 'Forbidden: unknown field', field: 'spec.a' },
    ]);
  });

  it('takes the message of a rule written by hand', () => {
    const own: KindDefinition = {
      ...sampleOrder,
      schema: z.object({ spec: z.object({ a: z.string().refine(() => false, 'must be green') }) }),
    };
    expect(validateSchema(own, { ...anOrder(), spec: { a: 'red' } }).causes[0]?.message).toBe(
      'Invalid value: "red": must be green',
    );
  });

  it('refuses infinite recursion as a bad request', () => {
    interface Nest {
      in?: Nest | undefined;
    }
    const nest: z.ZodType<Nest> = z.object({ in: z.lazy(() => nest).optional() });
    const deep: KindDefinition = { ...sampleOrder, schema: z.object({ spec: nest }) };
    let spec: object = {};
    for (let depth = 0; depth < 100_000; depth += 1) spec = { in: spec };
    expect(() => validateSchema(deep, { ...anOrder(), spec })).toThrow(ArcError);
  });

  it('never throws on any JSON', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (spec, status) => {
        const { causes: found } = validateSchema(sampleOrder, anOrder(spec, { status }));
        for (const cause of found) expect(cause.message.length).toBeLessThan(1000);
      }),
    );
  });
});
