import { describe, expect, it } from 'vitest';
import { anOrder } from '../testing/sample-kinds.ts';
import { toPartial } from './partial.ts';

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
});
