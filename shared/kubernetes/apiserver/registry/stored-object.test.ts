import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import type { KindDefinition, KubeObject } from '../kinds/definition.ts';
import { kinds } from '../testing/test-server.ts';
import { keyPrefix, objectKey } from './keys.ts';
import { decodeObject, encodeObject, itemSlices, withRevision } from './stored-object.ts';

function kind(plural: string): KindDefinition {
  const found = kinds.find((one) => one.plural === plural);
  if (!found) throw new Error(`no kind ${plural}`);
  return found;
}
const widget = kind('widgets');

describe('keys', () => {
  it('lie under group, plural and namespace, and prefixes end with a slash', () => {
    expect(objectKey(widget, 'ns', 'a')).toBe('/registry/test.example.com/widgets/ns/a');
    expect(keyPrefix(widget)).toBe('/registry/test.example.com/widgets/');
    expect(objectKey(kind('namespaces'), 'ns', 'a')).toBe('/registry/core/namespaces/a');
  });
});

describe('stored values', () => {
  it('result in the same object from bytes and parsed', () => {
    const objects = fc.record({
      apiVersion: fc.constant('test.example.com/v1'),
      kind: fc.constant('Widget'),
      metadata: fc.record({ name: fc.string(), labels: fc.dictionary(fc.string(), fc.string()) }),
      spec: fc.jsonValue(),
    });
    fc.assert(
      fc.property(objects, fc.integer({ min: 1 }), (object, revision) => {
        const item = { key: 'k', value: encodeObject(widget, object as KubeObject), revision };
        const spliced: unknown = JSON.parse(withRevision(widget, item).toString());
        expect(spliced).toEqual(decodeObject(item));
        expect(decodeObject(item).metadata.resourceVersion).toBe(String(revision));
      }),
    );
  });

  it('that are damaged fail only their own read, and the message names the key', () => {
    for (const text of ['', '{', 'null', '{"a":1}']) {
      const item = { key: '/registry/x', value: new TextEncoder().encode(text), revision: 1 };
      expect(() => decodeObject(item)).toThrowError('the stored value of /registry/x is damaged');
      expect(() => withRevision(widget, item)).toThrowError('the stored value of /registry/x is damaged');
    }
  });
});

const sizes = (slices: Iterable<readonly unknown[]>) => [...slices].map((slice) => slice.length);
const itemsOf = (...kilobytes: number[]) =>
  kilobytes.map((size, at) => ({ key: `/${at}`, revision: 2, value: new Uint8Array(size * 1024) }));

it('slices items by count and size without losing any', () => {
  expect(sizes(itemSlices([]))).toEqual([]);
  expect(sizes(itemSlices(itemsOf(...Array<number>(1200).fill(0))))).toEqual([500, 500, 200]);
  expect(sizes(itemSlices(itemsOf(1, 1, 1, 1, 1), 2))).toEqual([2, 2, 1]);
  expect(sizes(itemSlices(itemsOf(200, 200, 200, 1500, 100, 400, 100)))).toEqual([2, 1, 1, 2, 1]);
  const items = itemsOf(500, 500, 10, 600);
  expect([...itemSlices(items)].flat()).toEqual(items);
});
