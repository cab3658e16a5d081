import { expect, it } from 'vitest';
import { type Pod, partOf, sumByPart } from './parts.ts';

function pod(namespace: string, labels: Record<string, string>, containers: string[] = []): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'any', namespace, labels },
    status: {
      containerStatuses: containers.map((name) => ({ name, containerID: `containerd://id-${name}` })),
    },
  };
}

it.each([
  ['arc-system', { 'serving.knative.dev/service': 'sync-status' }, 'sync-status'],
  ['arc-system', { 'app.kubernetes.io/name': 'etcd' }, 'etcd'],
  ['team', { 'workflows.argoproj.io/workflow': 'w' }, 'argoexec'],
  ['knative-serving', { app: 'activator' }, 'Knative Serving'],
  ['knative-eventing', {}, 'Knative Eventing'],
  ['registries', { app: 'source' }, 'other pods'],
])('a pod of %s with %j belongs to %s', (namespace, labels, part) => {
  expect(partOf(pod(namespace, labels))).toBe(part);
});

it("counts queue-proxy and the worker apart, and nothing twice, however many of a pod's containers are known", () => {
  const pods = new Map([
    ['a', pod('arc-system', { 'serving.knative.dev/service': 'sync-status' }, ['function', 'queue-proxy'])],
    ['b', pod('team', { 'workflows.argoproj.io/workflow': 'w' }, ['main', 'wait'])],
    ['c', pod('team', { 'workflows.argoproj.io/workflow': 'w' })],
  ]);
  const times = new Map([
    ['a', { seconds: 3, containers: new Map([['id-queue-proxy', 1]]) }],
    ['b', { seconds: 2, containers: new Map([['id-main', 0.5]]) }],
    ['c', { seconds: 4, containers: new Map() }],
    ['unknown', { seconds: 7, containers: new Map() }],
  ]);
  expect(sumByPart(times, pods)).toEqual(
    new Map([
      ['sync-status', 2],
      ['queue-proxy', 1],
      ['argoexec', 5.5],
      ['transfer-worker', 0.5],
      ['other pods', 7],
    ]),
  );
});
