import { describe, expect, it } from 'vitest';
import { type KubeObject, ownerReference } from '#shared/meta';
import { artifactWorkflow, endpoint, order } from '../../../shared/domain/testing/objects.ts';
import { ObjectTable } from '../objects/object-table.ts';
import { References } from './references.ts';

function names(objects: Iterable<{ metadata: { name: string } }>): string[] {
  return [...objects].map(({ metadata }) => metadata.name).toSorted();
}

function setUp(...objects: object[]): References {
  const references = new References(new ObjectTable(1));
  const before = new Map<string, KubeObject>();
  for (const object of objects as KubeObject[]) {
    const { kind, metadata } = object;
    references.put(object, before.get(`${kind}/${metadata.name}`));
    before.set(`${kind}/${metadata.name}`, object);
  }
  return references;
}

describe('References', () => {
  it('finds the Orders that use an Endpoint, by default or by artifact', () => {
    const own = order('own', [], {
      artifacts: [{ type: 'oci', srcRef: { name: 'other' }, dstRef: { name: 'destination' } }],
    });
    const references = setUp(order('plain', ['a:1']), own);
    expect(names(references.ordersUsingEndpoint('team', 'source'))).toEqual(['plain']);
    expect(names(references.ordersUsingEndpoint('team', 'other'))).toEqual(['own']);
    expect(names(references.ordersUsingEndpoint('team', 'destination'))).toEqual(['own', 'plain']);
    expect(names(references.ordersUsingEndpoint('elsewhere', 'source'))).toEqual([]);
  });

  it('finds the Orders that use a type of the namespace or of the cluster', () => {
    const references = setUp(order('one', ['a:1']));
    expect(names(references.ordersUsingType('team', 'oci'))).toEqual(['one']);
    expect(names(references.ordersUsingType(undefined, 'oci'))).toEqual(['one']);
    expect(names(references.ordersUsingType('elsewhere', 'oci'))).toEqual([]);
  });

  it('follows edits of an Order and forgets a deleted one', () => {
    const one = order('one', ['a:1']);
    const references = setUp(one, {
      ...one,
      spec: { ...one.spec, defaults: { srcRef: { name: 'new' }, dstRef: { name: 'destination' } } },
    });
    expect(names(references.ordersUsingEndpoint('team', 'source'))).toEqual([]);
    expect(names(references.ordersUsingEndpoint('team', 'new'))).toEqual(['one']);
    references.remove(one);
    expect(names(references.ordersUsingEndpoint('team', 'new'))).toEqual([]);
  });

  it('finds the Endpoints that use a Secret, as credentials or as CA', () => {
    const references = setUp(
      endpoint('a', { secretRef: { name: 's' } }),
      endpoint('b', { tls: { caSecretRef: { name: 's' } } }),
      endpoint('c'),
    );
    expect(names(references.endpointsUsingSecret('team', 's'))).toEqual(['a', 'b']);
  });

  it('finds unfinished ArtifactWorkflows only', () => {
    const open = artifactWorkflow('open');
    const references = setUp(open, artifactWorkflow('done', { status: { phase: 'Succeeded' } }));
    expect(names(references.artifactWorkflowsOfArtifact('team', 'label'))).toEqual(['open']);
    expect(names(references.artifactWorkflowsUsingEndpoint('team', 'source'))).toEqual(['open']);
    expect(references.artifactWorkflowNamed('team', 'done')?.metadata.name).toBe('done');
    expect(references.hasUnfinishedChild('uid-order')).toBe(true);
    references.put(
      { ...open, status: { phase: 'Failed' } } as unknown as KubeObject,
      open as unknown as KubeObject,
    );
    expect(references.hasUnfinishedChild('uid-order')).toBe(false);
  });

  it('detects that the status of an Order does not show that an artifact is Cancelled, which has no end', () => {
    const one = order('one', ['a:1']);
    const child = artifactWorkflow('order-0123456789abcdef', { status: { phase: 'Cancelled' } });
    child.spec.cancel = true;
    const references = setUp(one, {
      ...child,
      metadata: { ...child.metadata, ownerReferences: [{ ...ownerReference(one), controller: true }] },
    });
    const shown = (phase: string) => ({
      ...one,
      status: { artifactWorkflows: { '0123456789abcdef': { artifactIndex: 0, phase } } },
    });
    expect(references.hasStaleChildren(shown('Running'))).toBe(true);
    expect(references.hasStaleChildren(shown('Cancelled'))).toBe(false);
  });

  it('detects that the status of an Order was computed from other generations', () => {
    const one = order('one', ['a:1']);
    const computed = { ...one, status: { endpointGenerations: { source: 1, destination: 1 } } };
    const references = setUp(computed, endpoint('source'), endpoint('destination'));
    expect(references.hasStaleInputs(computed)).toBe(false);
    const moved = endpoint('source');
    moved.metadata.generation = 2;
    references.put(moved as unknown as KubeObject);
    expect(references.hasStaleInputs(computed)).toBe(true);
  });
});
