import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { createGraph, nodeOf } from './graph.ts';

const kind = { apiVersion: 'v1', kind: 'A', plural: 'as', namespaced: true };
const node = (uid: string, owners: string[], namespace = 'ns') =>
  nodeOf(kind, {
    apiVersion: 'v1',
    kind: 'A',
    metadata: {
      name: uid,
      namespace,
      uid,
      ownerReferences: owners.map((owner) => ({ apiVersion: 'v1', kind: 'A', name: owner, uid: owner })),
    },
  });

describe('createGraph', () => {
  it('knows dependents and contents after any sequence of changes', () => {
    const uid = fc.constantFrom('a', 'b', 'c', 'd');
    const step = fc.record({
      uid,
      owners: fc.uniqueArray(uid),
      namespace: fc.constantFrom('x', 'y'),
      remove: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const graph = createGraph();
        const model = new Map<string, { owners: string[]; namespace: string }>();
        for (const { remove, ...one } of steps) {
          if (remove) {
            graph.remove(one.uid);
            model.delete(one.uid);
          } else {
            graph.put(node(one.uid, one.owners, one.namespace));
            model.set(one.uid, one);
          }
        }
        for (const owner of ['a', 'b', 'c', 'd']) {
          const expected = [...model].filter(([, one]) => one.owners.includes(owner)).map(([name]) => name);
          expect(
            graph
              .dependents(owner)
              .map((one) => one.uid)
              .sort(),
          ).toEqual(expected.sort());
        }
        for (const namespace of ['x', 'y']) {
          const expected = [...model].filter(([, one]) => one.namespace === namespace).map(([name]) => name);
          expect(
            graph
              .contents(namespace)
              .map((one) => one.uid)
              .sort(),
          ).toEqual(expected.sort());
        }
      }),
    );
  });
});
