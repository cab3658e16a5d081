import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#shared/kubernetes/apiserver';
import { configMaps, count, namespaces, serviceAccounts } from './core.ts';

const namespace = (metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'demo', ...metadata },
});

describe('namespaces', () => {
  it('get a finalizer and their name as a label', () => {
    const made = namespaces.hooks?.prepare?.(namespace({ labels: { a: 'b' } }), undefined);
    expect(made).toMatchObject({
      metadata: { finalizers: ['kubernetes'], labels: { a: 'b', 'kubernetes.io/metadata.name': 'demo' } },
      status: { phase: 'Active' },
    });
  });

  it('can lose the finalizer later', () => {
    const old = namespace({ finalizers: ['kubernetes'] });
    const made = namespaces.hooks?.prepare?.(namespace({ finalizers: [] }), old);
    expect(made?.metadata.finalizers).toEqual([]);
  });

  it('show whether they are being deleted', () => {
    const shown = (object: KubeObject) => namespaces.columns[0]?.value(object);
    expect(shown(namespace())).toBe('Active');
    expect(shown(namespace({ deletionTimestamp: '2026-01-01T00:00:00Z' }))).toBe('Terminating');
  });
});

describe('configMaps and serviceAccounts', () => {
  it('count what they hold', () => {
    const object = { ...namespace(), data: { a: '1' }, binaryData: { b: '', c: '' }, secrets: [{}] };
    expect(configMaps.columns[0]?.value(object)).toBe(3);
    expect(serviceAccounts.columns[0]?.value(object)).toBe(1);
    expect(count(undefined)).toBe(0);
  });

  it('refuse data that is not text', () => {
    expect(configMaps.schema.safeParse({ data: { a: 1 } }).success).toBe(false);
  });
});
