import { describe, expect, it } from 'vitest';
import {
  identityOf,
  isReset,
  sameOwners,
  sortedEntries,
  storedManaged,
  suppliedManaged,
} from './managed-fields.ts';

const entry = {
  manager: 'm',
  operation: 'Apply',
  apiVersion: 'g/v1',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:a': {} },
} as const;
const update = { ...entry, operation: 'Update' } as const;

describe('identityOf', () => {
  it('has the version for updates alone, and the endpoint', () => {
    expect(identityOf(entry)).toBe('{"manager":"m","operation":"Apply"}');
    expect(identityOf({ ...update, subresource: 'status' })).toBe(
      '{"manager":"m","operation":"Update","apiVersion":"g/v1","subresource":"status"}',
    );
  });
});

describe('suppliedManaged', () => {
  it('parses entries from clients into canonical form', () => {
    const sent = [{ ...entry, fieldsV1: { 'f:a': { '.': {} } }, time: null }];
    expect(sortedEntries(suppliedManaged(sent) ?? new Map())).toEqual([entry]);
  });

  it.each([
    [5],
    [[1]],
    [[{}]],
    [[{ ...entry, operation: 'Delete' }]],
    [[{ ...entry, apiVersion: '' }]],
    [[{ ...entry, fieldsType: 'FieldsV2' }]],
    [[{ ...entry, manager: 1 }]],
    [[{ ...entry, fieldsV1: { bad: 1 } }]],
  ])('refuses %j', (value) => {
    expect(suppliedManaged(value)).toBeUndefined();
  });
});

describe('isReset', () => {
  it.each([
    [[], true],
    [[{}], true],
    [[{}, {}], false],
    [[entry], false],
    [undefined, false],
    [{}, false],
  ])('%j: %s', (value, reset) => {
    expect(isReset(value)).toBe(reset);
  });
});

describe('listManaged', () => {
  it('puts appliers first, then the oldest', () => {
    const later = { ...entry, manager: 'later', time: '2026-01-01T00:00:01Z' };
    const sooner = { ...entry, manager: 'sooner', time: '2026-01-01T00:00:00Z' };
    const listed = sortedEntries(storedManaged([update, later, sooner, entry]));
    expect(listed).toEqual([entry, sooner, later, update]);
    expect(sortedEntries(new Map())).toBeUndefined();
  });
});

describe('sameOwners', () => {
  it('does not look at times', () => {
    expect(sameOwners([entry], [{ ...entry, time: '2026-01-01T00:00:00Z' }])).toBe(true);
    expect(sameOwners([entry], [{ ...entry, fieldsV1: {} }])).toBe(false);
    expect(sameOwners([entry], [])).toBe(false);
    expect(sameOwners(undefined, undefined)).toBe(true);
  });
});
