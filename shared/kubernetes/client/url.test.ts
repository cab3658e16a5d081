import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import type { Kind } from './client.ts';
import { collectionPath, namespaceOf, objectPath, query } from './url.ts';

const orders: Kind = {
  apiVersion: 'arc.opendefense.cloud/v1alpha1',
  kind: 'Order',
  plural: 'orders',
  namespaced: true,
};
const namespaces: Kind = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };

describe('paths', () => {
  it.each([
    [collectionPath(orders), '/apis/arc.opendefense.cloud/v1alpha1/orders'],
    [collectionPath(orders, 'a'), '/apis/arc.opendefense.cloud/v1alpha1/namespaces/a/orders'],
    [collectionPath(namespaces, 'ignored'), '/api/v1/namespaces'],
    [objectPath(namespaces, { name: 'a' }), '/api/v1/namespaces/a'],
    [
      objectPath(orders, { name: 'o', namespace: 'a' }, 'status'),
      '/apis/arc.opendefense.cloud/v1alpha1/namespaces/a/orders/o/status',
    ],
  ])('%s', (path, expected) => {
    expect(path).toBe(expected);
  });

  it('never lets a name address another path', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.constantFrom('..', '.', '', '../x', '%2e%2e', 'a/b', 'a?b', 'a#b'), fc.string()),
        (name) => {
          let path: string;
          try {
            path = objectPath(orders, { name: name.toWellFormed(), namespace: 'a' });
          } catch {
            return;
          }
          const resolved = new URL(`http://x${path}`);
          expect(resolved.pathname.split('/')).toHaveLength(8);
          expect(resolved.search + resolved.hash).toBe('');
        },
      ),
    );
  });

  it.each([{ name: 'o' }, { name: 'o', namespace: '' }])(
    'asks for the namespace of a namespaced kind: %j',
    (key) => {
      expect(() => objectPath(orders, key)).toThrow(/Order o needs a namespace/);
      expect(namespaceOf(namespaces, key)).toBeUndefined();
    },
  );
});

describe('query', () => {
  it('leaves out undefined options and encodes the others', () => {
    expect(query({ a: undefined })).toBe('');
    expect(query({ watch: true, limit: 5, labelSelector: 'a=b,c' })).toBe(
      '?watch=true&limit=5&labelSelector=a%3Db%2Cc',
    );
  });
});
