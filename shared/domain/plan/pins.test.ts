import { describe, expect, it } from 'vitest';
import type { Json } from '#shared/base/meta';
import { fc } from '#shared/base/testing';
import type { Schema } from '../schema/schema.ts';
import { flatten, parametersFor } from './parameters.ts';
import { effectiveSpec } from './pins.ts';

const override = [{ name: 'specOverride', value: 'quarantine/app:1.0' }];
const pinned = { override: 'quarantine/app:1.0' };

describe('a parameter of a type', () => {
  it('is set where a template sees it, and the spec stays as it was', () => {
    const spec = { image: 'a:1', scan: { severity: 'LOW', depth: 1 }, tags: ['x'] };
    const typeParameters = [
      { name: 'specScanSeverity', value: 'HIGH' },
      { name: 'specScanDepth', value: '3' },
      { name: 'specTags', value: '["y"]' },
      { name: 'specSigned', value: 'true' },
      { name: 'other', value: 'x' },
    ];
    expect(effectiveSpec(spec, typeParameters, undefined)).toEqual({
      image: 'a:1',
      scan: { severity: 'HIGH', depth: 3 },
      tags: ['y'],
      signed: 'true',
      scanSeverity: 'HIGH',
      scanDepth: 3,
    });
    expect(spec.scan.severity).toBe('LOW');
  });

  it.each<Record<string, Json>>([
    {},
    { override: 'prod/app:1.0' },
    { Override: 'x' },
    { '.override': 'x' },
    { 'ä override': 'x' },
    { '': { override: 'x' } },
    { Override: null },
    { override: {} },
    { override: { '': 'x' } },
    { override: { a: { b: 'x' } } },
    { override: ['x'] },
    { override: 5 },
    { override: true },
    JSON.parse('{"__proto__": {"override": "x"}}') as Record<string, Json>,
    { constructor: { override: 'x' } },
  ])('cannot be evaded by %j', (spec) => {
    expect(effectiveSpec({ image: 'prod/app:1.0', ...spec }, override, undefined)).toMatchObject(pinned);
  });

  it.each<[string, Json, Json]>([
    ['1.10', 5, '1.10'],
    ['1', 5, 1],
    ['x', 5, 'x'],
    ['true', false, true],
    ['true', undefined, 'true'],
    ['{"a":1}', 'x', '{"a":1}'],
    ['["a"]', [], ['a']],
    ['a', [], 'a'],
    ['12345678901234567890', 1, '12345678901234567890'],
  ] as [string, Json, Json][])('with the value %s for %j is %j', (value, before, expected) => {
    const spec = before === undefined ? {} : { version: before };
    expect(effectiveSpec(spec, [{ name: 'specVersion', value }], undefined)).toEqual({ version: expected });
  });

  it('is set for every spelling of its own name', () => {
    const typeParameters = [{ name: 'specoverride', value: 'x' }];
    expect(effectiveSpec({ override: 'y' }, typeParameters, undefined)).toEqual({ override: 'x' });
  });

  describe('with a schema', () => {
    const schema: Schema = {
      type: 'object',
      properties: {
        tags: { type: 'object', properties: { newest: { type: 'integer' }, names: { type: 'array' } } },
        signed: { type: 'boolean' },
      },
      'x-kubernetes-preserve-unknown-fields': true,
    };

    it.each<[Record<string, Json>]>([
      [{}],
      [{ tags: 'x' }],
      [{ tags: null }],
      [{ tags: { newest: 100 } }],
      [{ tagsNewest: 5 }],
      [{ Tags: { newest: 100 } }],
    ])('is set in the field that the schema has, of its type, for %j', (spec) => {
      const typeParameters = [
        { name: 'specTagsNewest', value: '3' },
        { name: 'specTagsNames', value: '["a"]' },
        { name: 'specSigned', value: 'true' },
      ];
      expect(effectiveSpec(spec, typeParameters, schema)).toMatchObject({
        tags: { newest: 3, names: ['a'] },
        signed: true,
      });
    });

    it('is a whole object before a field of it', () => {
      const typeParameters = [
        { name: 'specTagsNewest', value: '3' },
        { name: 'specTags', value: '{"match":"*"}' },
      ];
      expect(effectiveSpec({}, typeParameters, schema)).toEqual({ tags: { match: '*', newest: 3 } });
    });

    it('stays a text where it is not of the type', () => {
      const typeParameters = [{ name: 'specTagsNewest', value: 'all' }];
      expect(effectiveSpec({}, typeParameters, schema)).toEqual({ tags: { newest: 'all' } });
    });
  });

  it('has one value in the job and in the template, whatever an Order says', () => {
    const key = fc.oneof(
      fc.constantFrom(
        'override',
        'Override',
        '',
        '.',
        'over',
        'ride',
        'Ride',
        'a.override',
        '__proto__',
        'é',
      ),
      fc.string({ unit: 'binary', maxLength: 4 }),
    );
    const leaf = fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.boolean(), fc.array(fc.string()));
    const { spec } = fc.letrec((tie) => ({
      spec: fc.dictionary(key, fc.oneof({ maxDepth: 3 }, leaf, tie('spec')), { maxKeys: 4 }),
    }));
    const sides = { type: 'oci', remoteURL: 'https://r', secret: false };
    fc.assert(
      fc.property(spec, (given) => {
        const job = effectiveSpec(given as Record<string, Json>, override, undefined);
        const template = parametersFor({
          source: sides,
          destination: sides,
          cron: false,
          spec: job,
          typeParameters: override,
        });
        expect(job.override).toBe('quarantine/app:1.0');
        for (const parameter of flatten(job)) expect(template).toContainEqual(parameter);
      }),
      { numRuns: 300 },
    );
  });
});
