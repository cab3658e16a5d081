import { describe, expect, it } from 'vitest';
import { aWidget, sampleWidget } from '../testing/sample-widget.ts';
import { type ManagedFieldsEntry, storedManaged } from './managed-fields.ts';
import { prune } from './prune.ts';
import { mergeTypeOf } from './typed/merge-type.ts';
import { fieldsOf } from './typed/typed-fields.ts';

const type = mergeTypeOf(sampleWidget);
const fields = (spec: object) => fieldsOf(type, aWidget(spec));

function pruned(merged: object, last: object, next: object, others: object = {}): unknown {
  const base = { operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1' } as const;
  const owners: ManagedFieldsEntry[] = [
    { ...base, manager: 'self', fieldsV1: fields(next) },
    { ...base, manager: 'other', fieldsV1: fields(others) },
  ];
  return (
    prune(type, aWidget(merged), storedManaged(owners), fields(last), fields(next)) as { spec: unknown }
  ).spec;
}

describe('prune', () => {
  it('removes owned fields that are omitted', () => {
    expect(pruned({ size: 1, color: 'a' }, { size: 1, color: 'a' }, { size: 1 })).toEqual({ size: 1 });
  });

  it('keeps fields with another owner, and fields without an owner', () => {
    expect(pruned({ size: 1, color: 'a', flag: true }, { size: 1, color: 'a' }, {}, { color: 'a' })).toEqual({
      color: 'a',
      flag: true,
    });
  });

  it('removes an item including its unowned fields', () => {
    const parts = [{ name: 'a', url: 'default' }, { name: 'b' }];
    const last = { parts: [{ name: 'a' }, { name: 'b' }] };
    expect(pruned({ parts }, last, { parts: [{ name: 'b' }] })).toEqual({ parts: [{ name: 'b' }] });
  });

  it('removes a list with its last item', () => {
    expect(pruned({ tags: ['a'], size: 1 }, { tags: ['a'], size: 1 }, { size: 1 })).toEqual({ size: 1 });
  });

  it('gives back the very object when nothing was dropped', () => {
    const merged = aWidget({ size: 1 });
    expect(prune(type, merged, new Map(), fields({ size: 1 }), fields({ size: 1, color: 'a' }))).toBe(merged);
  });
});
