import { describe, expect, it } from 'vitest';
import { arcKinds } from '#shared/domain';
import { crdOf, structural } from './crds.ts';

describe('structural', () => {
  it('drops keywords a CRD refuses, but no property of such a name', () => {
    const schema = {
      type: 'object',
      title: 'x',
      'x-kubernetes-patch-merge-key': 'name',
      properties: { title: { type: 'string', title: 'y' } },
      default: { $ref: 'kept' },
    };
    expect(structural(schema)).toEqual({
      type: 'object',
      properties: { title: { type: 'string' } },
      default: { $ref: 'kept' },
    });
  });
});

describe('crdOf', () => {
  it('carries names, status and columns of a kind', () => {
    const [order] = arcKinds;
    if (!order) throw new Error('there are no kinds');
    const crd = crdOf(order, { type: 'object', properties: { metadata: {}, spec: { type: 'object' } } }, 'g');
    expect(crd).toMatchObject({
      metadata: { name: 'orders.g' },
      spec: {
        group: 'g',
        names: { kind: 'Order', listKind: 'OrderList' },
        versions: [
          { subresources: { status: {} }, schema: { openAPIV3Schema: { properties: { spec: {} } } } },
        ],
      },
    });
  });
});
