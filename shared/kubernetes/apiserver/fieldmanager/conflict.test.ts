import { describe, expect, it } from 'vitest';
import { conflictError, listConflicts } from './conflict.ts';
import { type ManagedFieldsEntry, storedManaged } from './managed-fields.ts';

const base = { apiVersion: 'g/v1', fieldsType: 'FieldsV1', fieldsV1: {} } as const;
const entries: ManagedFieldsEntry[] = [
  { ...base, manager: 'z', operation: 'Apply' },
  { ...base, manager: 'a', operation: 'Update', subresource: 'status' },
];
const managed = storedManaged(entries);
const [z = '', a = ''] = managed.keys();

describe('conflicts', () => {
  it('are one line for a single conflict', () => {
    const error = conflictError(listConflicts(managed, new Map([[a, { 'f:x': {} }]])));
    expect(error.code).toBe('Conflict');
    expect(error.message).toBe(
      'Apply failed with 1 conflict: conflict with "a" with subresource "status" using g/v1: .x',
    );
  });

  it('are listed by manager for several conflicts, parents before children', () => {
    const conflicts = new Map([
      [z, { 'f:b': { 'f:c': {} }, 'f:d': {} }],
      [a, { 'f:x': {} }],
    ]);
    const error = conflictError(listConflicts(managed, conflicts));
    expect(error.message).toBe(
      'Apply failed with 3 conflicts: conflicts with "a" with subresource "status" using g/v1:\n- .x\nconflicts with "z":\n- .d\n- .b.c',
    );
    expect(error.details?.causes?.map(({ field }) => field)).toEqual(['.x', '.d', '.b.c']);
  });

  it('are all counted, and the first thousand listed', () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`f:x${index}`, {}]));
    const error = conflictError(listConflicts(managed, new Map([[z, many]])));
    expect(error.message).toContain('Apply failed with 5000 conflicts: ');
    expect(error.details?.causes).toHaveLength(1000);
  });

  it('omit fields that the applier may take over', () => {
    const found = listConflicts(
      managed,
      new Map([[z, { 'f:x': {}, 'f:y': {} }]]),
      (path) => path[0] === 'f:x',
    );
    expect(found.listed.map(({ path }) => path)).toEqual([['f:y']]);
  });
});
