import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#shared/kubernetes/apiserver';
import { createLiveLogs } from './live-logs.ts';
import { podKind } from './pod.ts';

const owner = { apiVersion: 'argoproj.io/v1alpha1', kind: 'Workflow', name: 'w', uid: 'u', controller: true };
const pod: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'w', namespace: 'n', ownerReferences: [owner] },
  spec: { containers: [{ name: 'main' }, { name: 'prepare' }] },
  status: { phase: 'Failed', logs: { main: 'one\ntwo\nthree' } },
};
const live = createLiveLogs();
const pods = podKind(live);
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

  it('is what the program has printed, while it runs, and what it prints from then on', async () => {
    const running = { ...pod, metadata: { ...pod.metadata, name: 'running' } };
    const logs = live.open({ namespace: 'n', name: 'running' });
    const print = logs.of('main').input(['hunter2']);
    print(Buffer.from('one\nas hunter2\nhalf a'));
    expect(read('', running)).toBe('one\nas ***\n');
    const follow = (query: string) =>
      pods.texts?.[0]?.follow?.(running, new URLSearchParams(query))?.(new AbortController().signal) ?? [];
    const all = async (query: string) => {
      let text = '';
      for await (const piece of follow(query)) text += piece;
      return text;
    };
    const seen = [all('tailLines=1'), all('limitBytes=5'), all('container=prepare')];
    expect(() => follow('container=other')).toThrow(expect.objectContaining({ code: 'BadRequest' }));
    print(Buffer.from(' line\nlast'));
    logs.end();
    expect(await Promise.all(seen)).toEqual(['as ***\nhalf a line\nlast\n', 'one\na', '']);
    logs.forget();
    expect(pods.texts?.[0]?.follow?.(running, new URLSearchParams())).toBeUndefined();
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
    const status = { phase: 'Running', containerStatuses: [{ name: 'main', ready: true }] };
    expect(pods.columns.map(({ value }) => value({ ...pod, status }))).toEqual(['1/2', 'Running', '0']);
  });
});
