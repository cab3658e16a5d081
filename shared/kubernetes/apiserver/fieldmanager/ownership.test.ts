import { describe, expect, it } from 'vitest';
import { type ManagedFieldsEntry, storedManaged } from './managed-fields.ts';
import { afterChange, conflictsOf, ignoredBy, ownable } from './ownership.ts';

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
  it('is everything but what the server sets and what names the object', () => {
    const metadata = { '.': {}, 'f:name': {}, 'f:uid': {}, 'f:labels': { 'f:a': {} } };
    expect(ownable({ 'f:apiVersion': {}, 'f:kind': {}, 'f:metadata': metadata, 'f:spec': {} })).toEqual({
      'f:metadata': { 'f:labels': { 'f:a': {} } },
      'f:spec': {},
    });
  });
});

describe('ignoredBy', () => {
  it('is the part that the other endpoint writes', () => {
    expect([ignoredBy('', true), ignoredBy('status', true), ignoredBy('', false)]).toEqual([
      { 'f:status': {} },
      { 'f:spec': {} },
      {},
    ]);
  });
});

describe('a change', () => {
  it('conflicts with the others that own what it sets', () => {
    expect(conflictsOf(managed, changes, a)).toEqual(new Map([[b, { 'f:x': {} }]]));
    expect(conflictsOf(managed, { ...changes, modified: {} }, a).size).toBe(0);
  });

  it('takes from the others what it sets and removes, and the last field with the entry', () => {
    const left = afterChange(managed, changes, b);
    expect([...left.keys()]).toEqual([a, b]);
    expect(left.get(a)?.fieldsV1).toEqual({ 'f:y': {} });
    expect(left.has(c)).toBe(false);
  });
});
