import { describe, expect, it } from 'vitest';
import { sampleWidget } from '../testing/sample-widget.ts';
import { type ManagedFieldsEntry, storedManaged } from './managed-fields.ts';
import {
  conflictsOf,
  fieldsIgnoredBy,
  ownable,
  ownersAfterChange,
  reconcileFields,
  reconcileWithSchema,
} from './ownership.ts';
import { mergeTypeOf } from './typed/merge-type.ts';

const entry = (manager: string, fieldsV1: object): ManagedFieldsEntry => ({
  manager,
  operation: 'Apply',
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1: fieldsV1 as ManagedFieldsEntry['fieldsV1'],
});
const managed = storedManaged([
  entry('a', { 'f:x': {}, 'f:y': {} }),
  entry('b', { 'f:x': {} }),
  entry('c', { 'f:z': {} }),
]);
const [a = '', b = '', c = ''] = managed.keys();
const changes = { added: {}, modified: { 'f:x': {} }, removed: { 'f:z': {} } };

describe('ownable', () => {
  it('excludes server-set fields and the identity of the object', () => {
    const metadata = { '.': {}, 'f:name': {}, 'f:uid': {}, 'f:labels': { 'f:a': {} } };
    expect(ownable({ 'f:apiVersion': {}, 'f:kind': {}, 'f:metadata': metadata, 'f:spec': {} })).toEqual({
      'f:metadata': { 'f:labels': { 'f:a': {} } },
      'f:spec': {},
    });
  });
});

describe('ignoredBy', () => {
  it('is the part that the other endpoint writes', () => {
    expect([fieldsIgnoredBy('', true), fieldsIgnoredBy('status', true), fieldsIgnoredBy('', false)]).toEqual([
      { 'f:status': {} },
      { 'f:spec': {} },
      {},
    ]);
  });
});

describe('a change', () => {
  it('conflicts with other owners of the changed fields', () => {
    expect(conflictsOf(managed, changes, a)).toEqual(new Map([[b, { 'f:x': {} }]]));
    expect(conflictsOf(managed, { ...changes, modified: {} }, a).size).toBe(0);
  });

  it('removes changed and removed fields from other owners, and entries without fields', () => {
    const left = ownersAfterChange(managed, changes, b);
    expect([...left.keys()]).toEqual([a, b]);
    expect(left.get(a)?.fieldsV1).toEqual({ 'f:y': {} });
    expect(left.has(c)).toBe(false);
  });
});

const type = mergeTypeOf(sampleWidget);

describe('asDeclared', () => {
  it('replaces the members of a list or map that became atomic by one member', () => {
    const before = {
      'f:spec': { 'f:amap': { 'f:a': {} }, 'f:plain': { '.': {}, 'v:"x"': {} }, 'f:map': { 'f:a': {} } },
    };
    expect(reconcileFields(type, before)).toEqual({
      'f:spec': { 'f:amap': {}, 'f:plain': {}, 'f:map': { 'f:a': {} } },
    });
  });

  it('descends into list items, and ignores undeclared fields', () => {
    const before = {
      'f:spec': {
        'f:parts': { 'k:{"name":"a"}': { 'f:opts': { 'f:x': {} } } },
        'f:gone': { 'f:x': {} },
        'f:any': { 'f:x': {} },
      },
    };
    expect(reconcileFields(type, before)).toBe(before);
  });
});

describe('upToDate', () => {
  it('leaves entries of other versions out', () => {
    const entry = {
      operation: 'Apply',
      apiVersion: 'g/v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': {} },
    } as const;
    const managed = storedManaged([
      { ...entry, manager: 'a' },
      { ...entry, manager: 'b', apiVersion: 'g/v0' },
    ]);
    expect([...reconcileWithSchema(managed, sampleWidget, 'g/v1').values()]).toEqual([
      { ...entry, manager: 'a' },
    ]);
  });
});
