import { describe, expect, it } from 'vitest';
import { isOwnedBy, ownerOfKind, ownerReference, owners } from './owners.ts';
import { order } from './testing/test-objects.ts';

describe('owners', () => {
  it('name one writer for each thing', () => {
    const things = owners.flatMap(({ kind, fields }) => fields.map((field) => `${kind} ${field}`));
    expect(new Set(things).size).toBe(things.length);
  });

  it('are told by uid, not by name', () => {
    const owner = order([]);
    const object = { metadata: { name: 'child', ownerReferences: [ownerReference(owner)] } };
    expect(isOwnedBy(object, owner)).toBe(true);
    expect(isOwnedBy(object, { metadata: { ...owner.metadata, uid: 'later' } })).toBe(false);
    expect(isOwnedBy({ metadata: { name: 'x' } }, { metadata: { name: 'y' } })).toBe(false);
    expect(ownerOfKind(object, 'Order')?.uid).toBe('order-uid');
    expect(ownerOfKind(object, 'Secret')).toBeUndefined();
  });
});
