import { describe, expect, it } from 'vitest';
import { sampleWidget } from '../../testing/sample-widget.ts';
import { fieldType, type MergeType, mergeType, mergeTypeOf } from './merge-type.ts';

function at(type: MergeType | undefined, ...names: string[]): MergeType | undefined {
  return names.reduce((found, name) => (found?.map ? fieldType(found.map, name) : undefined), type);
}

describe('mergeTypeOf', () => {
  const type = mergeTypeOf(sampleWidget);

  it('is made once', () => {
    expect(mergeTypeOf(sampleWidget)).toBe(type);
  });

  it('reads the list types', () => {
    expect(at(type, 'spec', 'tags')?.list?.kind).toBe('set');
    expect(at(type, 'spec', 'plain')?.list?.kind).toBe('atomic');
    expect(at(type, 'spec', 'ports')?.list).toMatchObject({
      kind: 'map',
      keys: [{ name: 'port' }, { name: 'proto', fallback: 'TCP' }],
    });
    expect(at(type, 'metadata', 'finalizers')?.list?.kind).toBe('set');
    expect(at(type, 'metadata', 'ownerReferences')?.list).toMatchObject({
      kind: 'map',
      items: { map: { atomic: true } },
    });
  });

  it('reads the map types', () => {
    expect(at(type, 'spec', 'amap')?.map?.atomic).toBe(true);
    expect(at(type, 'spec', 'map')?.map?.atomic).toBe(false);
    expect(at(type, 'spec', 'bogus')).toBeUndefined();
    expect(at(type, 'spec', 'free', 'a', 'b', 'c')?.list?.kind).toBe('atomic');
  });

  it('allows unknown fields below x-kubernetes-preserve-unknown-fields', () => {
    expect(at(type, 'spec', 'kept', 'known', 'new')).toBeDefined();
  });
});

describe('mergeType', () => {
  it.each([
    [{ type: 'string' }, 'string'],
    [{ type: 'string', format: 'byte' }, 'string'],
    [{ type: 'string', format: 'date-time' }, 'untyped'],
    [{ type: 'integer' }, 'numeric'],
    [{ type: 'number' }, 'numeric'],
    [{ type: 'boolean' }, 'boolean'],
    [{}, 'untyped'],
  ] as const)('reads %j', (schema, scalar) => {
    expect(mergeType(schema).scalar).toBe(scalar);
  });

  it('treats a map list without keys as atomic', () => {
    expect(mergeType({ type: 'array', 'x-kubernetes-list-type': 'map' }).list?.kind).toBe('atomic');
  });
});
