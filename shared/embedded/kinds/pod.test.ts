import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#shared/apiserver';
import { pods } from './pod.ts';

const owner = { apiVersion: 'argoproj.io/v1alpha1', kind: 'Workflow', name: 'w', uid: 'u', controller: true };
const pod: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'w', namespace: 'n', ownerReferences: [owner] },
  spec: { containers: [{ name: 'main' }, { name: 'prepare' }] },
  status: { phase: 'Failed', logs: { main: 'one\ntwo\nthree' } },
};
const read = (query: string, of = pod) => pods.texts?.[0]?.read(of, new URLSearchParams(query));

describe('the log of a pod', () => {
  it.each([
    ['', 'one\ntwo\nthree\n'],
    ['container=main&follow=true', 'one\ntwo\nthree\n'],
    ['tailLines=2', 'two\nthree\n'],
    ['tailLines=0', ''],
    ['tailLines=9&limitBytes=5', 'one\nt'],
    ['container=prepare', ''],
  ])('with "%s" is what the kubelet would send', (query, expected) => {
    expect(read(query)).toBe(expected);
  });

  it.each(['container=other', 'previous=true', 'sinceSeconds=5', 'tailLines=-1'])('refuses "%s"', (query) => {
    expect(() => read(query)).toThrow(expect.objectContaining({ code: 'BadRequest' }));
  });

  it('is empty where there is none', () => {
    const { status: _, ...bare } = pod;
    expect(read('', bare)).toBe('');
  });
});

describe('pods', () => {
  it('are made by the executor for a Workflow, and by nobody for themselves', () => {
    expect(pods.hooks?.validate?.(pod, undefined)).toEqual([]);
    const { ownerReferences: _, ...metadata } = pod.metadata;
    const [cause] = pods.hooks?.validate?.({ ...pod, metadata }, undefined) ?? [];
    expect(cause?.message).toContain('runs Workflows, not pods');
  });

  it('print as kubectl shows them', () => {
    expect(pods.columns.map(({ value }) => value(pod))).toEqual(['0/2', 'Error', '0']);
  });
});
