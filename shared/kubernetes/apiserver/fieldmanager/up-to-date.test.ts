import { describe, expect, it } from 'vitest';
import { sampleWidget } from '../testing/sample-widget.ts';
import { storedManaged } from './managed-fields.ts';
import { mergeTypeOf } from './typed/merge-type.ts';
import { asDeclared, upToDate } from './up-to-date.ts';

const type = mergeTypeOf(sampleWidget);

describe('asDeclared', () => {
  it('makes one member of what has become atomic', () => {
    const before = {
      'f:spec': { 'f:amap': { 'f:a': {} }, 'f:plain': { '.': {}, 'v:"x"': {} }, 'f:map': { 'f:a': {} } },
    };
    expect(asDeclared(type, before)).toEqual({
      'f:spec': { 'f:amap': {}, 'f:plain': {}, 'f:map': { 'f:a': {} } },
    });
  });

  it('looks into items of lists, and knows nothing of what is not declared', () => {
    const before = {
      'f:spec': {
        'f:parts': { 'k:{"name":"a"}': { 'f:opts': { 'f:x': {} } } },
        'f:gone': { 'f:x': {} },
        'f:any': { 'f:x': {} },
      },
    };
    expect(asDeclared(type, before)).toBe(before);
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
    expect([...upToDate(managed, sampleWidget, 'g/v1').values()]).toEqual([{ ...entry, manager: 'a' }]);
  });
});
