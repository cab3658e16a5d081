import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { artifactWorkflows, labels, type Pod } from '#shared/domain';
import { contextOf, eventOf } from '../../shared/conduit/runtime/testing/handler-context.ts';
import { artifactWorkflow, namespace, workflowOf } from '../../shared/domain/testing/objects.ts';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { handle } from './index.ts';

const name = 'order-0123456789abcdef';
const queue = 'transfers';
const submitted = artifactWorkflow(name, {
  status: { attempts: 1, workflowRef: { kind: 'Workflow', name, attempt: 1 } },
});
const bare = workflowOf(submitted, name, {
  phase: 'Running',
  nodes: { [name]: { id: name, type: 'Pod', phase: 'Pending' } },
});
const waiting = { ...bare, metadata: { ...bare.metadata, labels: { [labels.queue]: queue } } };

function pod(gates: string[]): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, uid: 'uid-pod', labels: { [labels.argoWorkflow]: name } },
    spec: { containers: [], schedulingGates: gates.map((gate) => ({ name: gate })) },
    status: { phase: 'Pending' },
  };
}

const gated = pod(['kueue.x-k8s.io/admission', 'kueue.x-k8s.io/topology']);
const reason = 'insufficient unused quota for pods in flavor default, 1 more needed';
const workload = {
  apiVersion: 'kueue.x-k8s.io/v1beta2',
  kind: 'Workload',
  metadata: { name: `pod-${name}-1a2b3`, namespace, labels: { [labels.workloadPod]: 'uid-pod' } },
  status: { conditions: [{ type: 'QuotaReserved', status: 'False', reason: 'Pending', message: reason }] },
};
const pending = {
  apiVersion: 'visibility.kueue.x-k8s.io/v1beta2',
  kind: 'LocalQueue',
  metadata: { name: queue, namespace },
  items: [
    { metadata: { name: 'pod-of-somebody' }, positionInLocalQueue: 0 },
    { metadata: { name: workload.metadata.name, namespace }, positionInLocalQueue: 1 },
  ],
};

async function messageOf(api: FakeApi): Promise<string | undefined> {
  await handle(contextOf(api), eventOf(submitted));
  const { phase, message } = api.read(artifactWorkflows, { namespace, name })?.status ?? {};
  expect(phase).toBe('Queued');
  return message;
}

describe('the place in the queue', () => {
  it('is in the message, and follows the queue', async () => {
    const api = new FakeApi([submitted, waiting, gated, workload, pending]);
    expect(await messageOf(api)).toBe(`position 2 in LocalQueue "${queue}": ${reason}`);
    const writes = api.writes.length;
    await messageOf(api);
    expect(api.writes).toHaveLength(writes);
    api.put({
      ...pending,
      items: pending.items.slice(1).map((one) => ({ ...one, positionInLocalQueue: 0 })),
    });
    expect(await messageOf(api)).toBe(`position 1 in LocalQueue "${queue}": ${reason}`);
  });

  it('says when the pod is admitted', async () => {
    expect(await messageOf(new FakeApi([submitted, waiting, pod([])]))).toContain('has admitted its pod');
  });

  it('is left out where Kueue may not be asked', async () => {
    const api = new FakeApi([submitted, waiting, gated, workload, pending]);
    api.before = ({ apiVersion }) => {
      if (apiVersion.includes('kueue')) throw new ArcError('Forbidden', 'no');
    };
    expect(await messageOf(api)).toBe(`it waits in LocalQueue "${queue}"`);
    api.before = ({ resource }) => {
      if (resource === 'pods') throw new ArcError('Forbidden', 'no');
    };
    // The last one that was read stays.
    expect(await messageOf(api)).toBe(`it waits in LocalQueue "${queue}"`);
  });

  it('is not asked for where no queue is named', async () => {
    const api = new FakeApi([submitted, bare, gated, workload, pending]);
    await handle(contextOf(api), eventOf(submitted));
    expect(api.read(artifactWorkflows, { namespace, name })?.status?.phase).toBe('Running');
    expect(api.requests.filter(({ resource }) => resource === 'pods')).toEqual([]);
  });
});
