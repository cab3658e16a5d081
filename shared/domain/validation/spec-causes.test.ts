import { describe, expect, it } from 'vitest';
import { artifactType } from '../testing/objects.ts';
import { artifactTypeCauses } from './other-causes.ts';
import { specCauses } from './spec-causes.ts';

const both = { image: 'a:1', override: 'b', Override: 'c' };

describe('fields that become one parameter', () => {
  it('are refused in an artifact of an Order', () => {
    const field = 'spec.artifacts[0].spec';
    expect(specCauses(field, both, undefined)).toEqual([
      {
        reason: 'FieldValueInvalid',
        field,
        message: `Invalid value: ${field}.Override and ${field}.override both become the parameter specOverride: remove one of them`,
      },
    ]);
    expect(specCauses(field, { image: 'a:1', Override: 'c' }, undefined)).toEqual([]);
  });

  it('are refused in the schema of a type', () => {
    const properties = { override: { type: 'string' }, '': { properties: { Override: { type: 'string' } } } };
    const type = artifactType('oci', { schema: { type: 'object', properties } });
    expect(artifactTypeCauses(type, undefined)).toEqual([
      {
        reason: 'FieldValueInvalid',
        field: 'spec.schema',
        message:
          'Invalid value: artifacts[].spec.override and artifacts[].spec[""].Override both become the parameter specOverride: remove one of them',
      },
    ]);
    expect(artifactTypeCauses(type, type)).toEqual([]);
    expect(artifactTypeCauses(artifactType('oci', { schema: { properties: 5 } }), undefined)).toEqual([]);
  });

  it('are set by one parameter of a type', () => {
    const parameters = ['specOverride', 'specImage', 'specoverride'].map((name) => ({ name, value: 'x' }));
    expect(artifactTypeCauses(artifactType('oci', { parameters }), undefined)).toEqual([
      {
        reason: 'FieldValueInvalid',
        field: 'spec.parameters[2].name',
        message:
          'Invalid value: "specoverride" sets the same field of artifacts as "specOverride": remove one of them',
      },
    ]);
  });
});
