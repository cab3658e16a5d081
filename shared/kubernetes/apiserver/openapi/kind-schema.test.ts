import { describe, expect, it } from 'vitest';
import { sampleOrder } from '../testing/sample-kinds.ts';
import { kindSchema, objectSchema } from './kind-schema.ts';

describe('kindSchema', () => {
  it('is made once per definition', () => {
    expect(kindSchema(sampleOrder)).toBe(kindSchema(sampleOrder));
    expect(kindSchema({ ...sampleOrder })).not.toBe(kindSchema(sampleOrder));
  });
  it('requires the fields that clients must set, but not those with defaults', () => {
    expect(kindSchema(sampleOrder).properties?.spec?.required).toEqual(['artifacts']);
  });
});

describe('objectSchema', () => {
  it('adds apiVersion, kind and inlined metadata', () => {
    const { properties } = objectSchema(sampleOrder);
    expect(Object.keys(properties ?? {})).toEqual(['apiVersion', 'kind', 'metadata', 'spec', 'status']);
    expect(JSON.stringify(properties?.metadata)).not.toContain('$ref');
  });
});
