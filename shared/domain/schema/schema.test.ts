import { describe, expect, it } from 'vitest';
import { withSchemaDefaults } from './defaults.ts';
import type { Schema } from './schema.ts';
import { schemaCauses } from './schema-causes.ts';
import { type PatternMatcher, valueCauses } from './value-causes.ts';

const matches: PatternMatcher = (pattern, text) => new RegExp(pattern).test(text);

const oci: Schema = {
  type: 'object',
  required: ['image'],
  properties: {
    image: { type: 'string', minLength: 1, pattern: '^[a-z]' },
    platforms: {
      type: 'array',
      items: { type: 'string', enum: ['amd64', 'arm64'] },
      maxItems: 2,
      uniqueItems: true,
    },
    retries: { type: 'integer', minimum: 0, maximum: 5, default: 3 },
    options: {
      type: 'object',
      nullable: true,
      properties: { sign: { type: 'boolean', default: true } },
      default: {},
    },
    labels: { type: 'object', additionalProperties: { type: 'string' }, maxProperties: 2 },
    ratio: { type: 'number', minimum: 0, exclusiveMinimum: true, multipleOf: 0.5 },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
};

const texts = (value: unknown) =>
  valueCauses('spec', oci, value, matches).map(({ field, message }) => `${field}: ${message}`);

describe('valueCauses', () => {
  it.each([
    { image: 'a:1' },
    {
      image: 'a',
      platforms: ['amd64'],
      retries: 0,
      options: null,
      labels: { a: 'b' },
      ratio: 1.5,
      free: { any: [1] },
    },
  ])('takes %j', (value) => {
    expect(texts(value)).toEqual([]);
  });

  it('names the fields that there are, for one that is not among them or is missing', () => {
    const all =
      'image (string, required), platforms (array), retries (integer), options (object), labels (object), ratio (number), free (object)';
    expect(texts({ iamge: 'a:1' })).toEqual([
      `spec.image: Required value: there are ${all}`,
      `spec.iamge: Forbidden: unknown field: there are ${all}`,
    ]);
  });

  it.each([
    [{ image: 1 }, 'spec.image: Invalid value: "integer": must be of type string'],
    [{ image: '' }, 'spec.image: Invalid value: "": must have at least 1 characters'],
    [{ image: 'A' }, 'spec.image: Invalid value: "A": must match ^[a-z]'],
    [
      { image: 'a', platforms: ['x'] },
      'spec.platforms[0]: Unsupported value: "x": supported values: "amd64", "arm64"',
    ],
    [{ image: 'a', platforms: ['amd64', 'amd64'] }, 'spec.platforms: Duplicate value: items must differ'],
    [{ image: 'a', retries: 6 }, 'spec.retries: Invalid value: 6: must be at most 5'],
    [{ image: 'a', retries: 1.5 }, 'spec.retries: Invalid value: "number": must be of type integer'],
    [{ image: 'a', ratio: 0 }, 'spec.ratio: Invalid value: 0: must be more than 0'],
    [{ image: 'a', ratio: 0.7 }, 'spec.ratio: Invalid value: 0.7: must be a multiple of 0.5'],
    [
      { image: 'a', labels: { a: 'b', c: 'd', e: 'f' } },
      'spec.labels: Invalid value: 3: must have at most 2 fields',
    ],
    [{ image: 'a', labels: { a: 1 } }, 'spec.labels.a: Invalid value: "integer": must be of type string'],
    [
      { image: 'a', options: { sing: true } },
      'spec.options.sing: Forbidden: unknown field: there are sign (boolean)',
    ],
    [{ image: 'a', free: null }, 'spec.free: Invalid value: "null": must be of type object'],
  ])('refuses %j', (value, text) => {
    expect(texts(value)).toEqual([text]);
  });

  it('names ten problems and no more, however long the value', () => {
    const labels = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`l${at}`, at]));
    expect(texts({ image: 'a', labels }).length).toBe(10);
  });

  it('leaves patterns out where there is no matcher', () => {
    expect(valueCauses('spec', oci, { image: 'A' })).toEqual([]);
  });
});

describe('withSchemaDefaults', () => {
  it('fills in what is left out, at every level, and changes nothing else', () => {
    const value = { image: 'a' };
    expect(withSchemaDefaults(oci, value)).toEqual({ image: 'a', retries: 3, options: { sign: true } });
    expect(value).toEqual({ image: 'a' });
    expect(withSchemaDefaults(oci, { image: 'a', retries: 0, options: null })).toEqual({
      image: 'a',
      retries: 0,
      options: null,
    });
  });
});

describe('schemaCauses', () => {
  const fields = (schema: unknown) => schemaCauses('spec.schema', schema, matches).map(({ field }) => field);

  it('takes a schema, and none', () => {
    expect(fields(oci)).toEqual([]);
    expect(fields(undefined)).toEqual([]);
  });

  it.each([
    [{ type: 'string' }, 'spec.schema.type'],
    [{ properties: {} }, 'spec.schema.type'],
    [{ type: 'object', properties: { a: {} } }, 'spec.schema.properties[a].type'],
    [{ type: 'object', oneOf: [] }, 'spec.schema.oneOf'],
    [{ type: 'object', required: 'a' }, 'spec.schema.required'],
    [
      { type: 'object', properties: { a: { type: 'string', pattern: '(' } } },
      'spec.schema.properties[a].pattern',
    ],
    [
      { type: 'object', properties: { a: { type: 'string', pattern: 'a'.repeat(2000) } } },
      'spec.schema.properties[a].pattern',
    ],
    [
      { type: 'object', properties: { a: { type: 'integer', default: 'x' } } },
      'spec.schema.properties[a].default',
    ],
    [{ type: 'object', 'x-kubernetes-validations': [] }, 'spec.schema.x-kubernetes-validations'],
    ['object', 'spec.schema'],
  ])('refuses %j', (schema, field) => {
    expect(fields(schema)).toEqual([field]);
  });

  it('refuses one that is too deep or too large', () => {
    let deep: unknown = { type: 'string' };
    for (let level = 0; level < 40; level++) deep = { type: 'object', properties: { a: deep } };
    expect(fields(deep).length).toBe(1);
    const wide = Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`p${at}`, { type: 'string' }]));
    expect(fields({ type: 'object', properties: wide }).length).toBe(1);
  });
});
