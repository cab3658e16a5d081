import { describe, expect, it } from 'vitest';
import { aWidget, sampleWidget } from '../../testing/sample-widget.ts';
import { mergeTypeOf } from './merge-type.ts';
import { removeFields } from './typed-remove.ts';

const type = mergeTypeOf(sampleWidget);
const removed = (spec: object, fields: object) =>
  (removeFields(type, aWidget(spec), { 'f:spec': fields } as never) as { spec: unknown }).spec;

describe('removeFields', () => {
  it.each([
    [{ color: 'a', size: 1 }, { 'f:color': {} }, { size: 1 }],
    [{ tags: ['a', 'b'] }, { 'f:tags': { 'v:"a"': {} } }, { tags: ['b'] }],
    [
      { parts: [{ name: 'a', url: 'u' }, { name: 'b' }] },
      { 'f:parts': { 'k:{"name":"a"}': { 'f:url': {} } } },
      { parts: [{ name: 'a' }, { name: 'b' }] },
    ],
    [
      { parts: [{ name: 'a' }, { name: 'b' }] },
      { 'f:parts': { 'k:{"name":"a"}': {} } },
      { parts: [{ name: 'b' }] },
    ],
    [{ size: 1 }, { 'f:other': {} }, { size: 1 }],
  ])('%j without %j', (spec, fields, left) => {
    expect(removed(spec, fields)).toEqual(left);
  });

  it('leaves null where nothing is left', () => {
    expect(removed({ tags: ['a'], size: 1 }, { 'f:tags': { 'v:"a"': {} } })).toEqual({ tags: null, size: 1 });
  });
});
