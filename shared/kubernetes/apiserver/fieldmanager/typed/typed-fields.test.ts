import { describe, expect, it } from 'vitest';
import { aWidget, sampleWidget } from '../../testing/sample-widget.ts';
import { mergeTypeOf } from './merge-type.ts';
import { fieldsOf, withNamedFields } from './typed-fields.ts';

const type = mergeTypeOf(sampleWidget);
const specOf = (spec: object) => fieldsOf(type, aWidget(spec))['f:spec'];

describe('fieldsOf', () => {
  it.each([
    [{ color: 'a' }, { 'f:color': {} }],
    [
      { parts: [{ name: 'a', url: 'u' }] },
      { 'f:parts': { 'k:{"name":"a"}': { '.': {}, 'f:name': {}, 'f:url': {} } } },
    ],
    [{ tags: ['a'] }, { 'f:tags': { 'v:"a"': {} } }],
    [
      { plain: ['a'], amap: { x: 'y' } },
      { 'f:plain': {}, 'f:amap': {} },
    ],
    [{ map: { x: 'y' } }, { 'f:map': { 'f:x': {} } }],
    [
      { map: {}, color: null },
      { 'f:map': {}, 'f:color': {} },
    ],
    [{ objs: { a: { type: 't' } } }, { 'f:objs': { 'f:a': { '.': {}, 'f:type': {} } } }],
    [{ free: { a: [1], b: { c: 1 } } }, { 'f:free': { 'f:a': {}, 'f:b': { '.': {}, 'f:c': {} } } }],
    [{ parts: [{ name: 'a' }, { name: 'a', url: 'x' }] }, { 'f:parts': { 'k:{"name":"a"}': {} } }],
    [{ parts: [{ url: 'no key' }] }, { 'f:parts': {} }],
  ])('%j', (spec, fields) => {
    expect(specOf(spec)).toEqual(fields);
  });

  it('has nothing of an empty set', () => {
    expect(specOf({ tags: [] })).toBeUndefined();
  });
});

describe('withNamedFields', () => {
  it('makes declared fields members, not keys of maps', () => {
    const fields = fieldsOf(type, aWidget({ objs: { a: { type: 't' } } }));
    expect(withNamedFields(type, fields)['f:spec']).toEqual({
      '.': {},
      'f:objs': { '.': {}, 'f:a': { '.': {}, 'f:type': {} } },
    });
  });
});
