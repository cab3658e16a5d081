import { describe, expect, it } from 'vitest';
import { isOwnedBy, ownerOfKind, ownerReference } from './owner-references.ts';

const owner = { apiVersion: 'v1', kind: 'Order', metadata: { name: 'o', uid: 'order-uid' } };
const object = { metadata: { name: 'child', ownerReferences: [ownerReference(owner)] } };

describe('owner references', () => {
  it('make the owner the controller, whose deletion waits for the object', () => {
    expect(ownerReference(owner)).toEqual({
      apiVersion: 'v1',
      kind: 'Order',
      name: 'o',
      uid: 'order-uid',
      controller: true,
      blockOwnerDeletion: true,
    });
  });

  it('are compared by uid, not by name', () => {
    expect(isOwnedBy(object, owner)).toBe(true);
    expect(isOwnedBy(object, { metadata: { ...owner.metadata, uid: 'later' } })).toBe(false);
    expect(isOwnedBy({ metadata: { name: 'x' } }, { metadata: { name: 'y' } })).toBe(false);
  });

  it('are found by kind', () => {
    expect(ownerOfKind(object, 'Order')?.uid).toBe('order-uid');
    expect(ownerOfKind(object, 'Secret')).toBeUndefined();
  });
});
