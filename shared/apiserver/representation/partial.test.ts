import { describe, expect, it } from 'vitest';
import { toPartial, toPartialList } from './partial.ts';
import { anOrder } from './sample-kinds.ts';

describe('partial objects', () => {
  it('keep the metadata whole and nothing else', () => {
    const order = anOrder();
    order.metadata = { name: 'one', labels: { a: 'b' }, finalizers: ['x/y'] };
    expect(toPartial(order)).toEqual({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { name: 'one', labels: { a: 'b' }, finalizers: ['x/y'] },
    });
  });

  it('come in lists with the list metadata', () => {
    expect(toPartialList([anOrder()], { resourceVersion: '5', continue: 'c' })).toMatchObject({
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '5', continue: 'c' },
      items: [{ kind: 'PartialObjectMetadata', metadata: { name: 'one' } }],
    });
    expect(toPartialList([])).toMatchObject({ metadata: {}, items: [] });
  });
});
