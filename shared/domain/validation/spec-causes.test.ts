import { describe, expect, it } from 'vitest';
import type { Json } from '#shared/meta';
import { artifactType, artifactWorkflow, order } from '../testing/objects.ts';
import { orderCauses } from './order-causes.ts';
import { artifactTypeCauses, artifactWorkflowCauses } from './other-causes.ts';

const clash = (field: string, name = 'Override') =>
  `Invalid value: ${field}.${name} and ${field}.override both become the parameter specOverride: remove one of them`;
const both = { image: 'a:1', override: 'b', Override: 'c' };

describe('fields that become one parameter', () => {
  it('are refused in a new artifact of an Order, and left alone in one that was there', () => {
    const of = (spec: Record<string, Json>) => order('release', [], { artifacts: [{ type: 'oci', spec }] });
    const field = 'spec.artifacts[0].spec';
    expect(orderCauses(of(both), undefined)).toEqual([
      { reason: 'FieldValueInvalid', field, message: clash(field) },
    ]);
    expect(orderCauses(of(both), of(both))).toEqual([]);
    expect(orderCauses(of({ image: 'a:1', Override: 'c' }), undefined)).toEqual([]);
  });

  it('are refused in an ArtifactWorkflow only where their values differ', () => {
    const of = (spec: Record<string, Json>) => {
      const made = artifactWorkflow('one');
      return { ...made, spec: { ...made.spec, artifact: { spec } } };
    };
    const field = 'spec.artifact.spec';
    expect(artifactWorkflowCauses(of(both), undefined)).toEqual([
      { reason: 'FieldValueInvalid', field, message: clash(field) },
    ]);
    // As a type's parameter makes them.
    expect(artifactWorkflowCauses(of({ override: 'b', Override: 'b' }), undefined)).toEqual([]);
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
