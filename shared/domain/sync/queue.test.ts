import { describe, expect, it } from 'vitest';
import type { Pod } from '../kinds/core.ts';
import type { Workload } from '../kinds/kueue.ts';
import { gatedPod, isQueued, placeInQueue, positionIn, queueMessage } from './queue.ts';

function workload(status: 'True' | 'False', message?: string): Workload {
  const reserved = { type: 'QuotaReserved', status, ...(message === undefined ? {} : { message }) };
  return {
    apiVersion: 'kueue.x-k8s.io/v1beta2',
    kind: 'Workload',
    metadata: { name: 'pod-two' },
    status: { conditions: [{ type: 'PodsReady', status: 'False', message: 'not ready' }, reserved] },
  };
}

const pending = {
  apiVersion: 'visibility.kueue.x-k8s.io/v1beta2',
  kind: 'PendingWorkloadsSummary' as const,
  metadata: { name: 'slow' },
  items: [
    { metadata: { name: 'pod-one' }, positionInLocalQueue: 0 },
    { metadata: { name: 'pod-two' }, positionInLocalQueue: 1 },
  ],
};

describe('a Workflow in a queue of Kueue', () => {
  it.each([
    [['Pending'], true],
    [['Pending', 'Running'], false],
    [['Running'], false],
    [['Error', 'Pending'], true],
    [['Succeeded', 'Failed', 'Pending'], true],
    [['Error'], false],
    [[], false],
  ])('with pods that are %j waits: %s', (phases, expected) => {
    const pods = phases.map((phase, index) => [String(index), { type: 'Pod', phase }] as const);
    const nodes = { ...Object.fromEntries(pods), r: { type: 'Retry', phase: 'Running' } };
    const metadata = { name: 'w', labels: { 'kueue.x-k8s.io/queue-name': 'slow' } };
    const argo = { apiVersion: 'argoproj.io/v1alpha1', kind: 'Workflow' as const, spec: {} };
    expect(isQueued({ ...argo, metadata, status: { phase: 'Running', nodes } })).toBe(expected);
    const plain = { ...argo, metadata: { name: 'w' }, status: { phase: 'Running' as const, nodes } };
    expect(isQueued(plain)).toBe(false);
  });

  it('is held back by the gates of Kueue, and by no others', () => {
    const pod = (name: string, ...gates: string[]): Pod => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { schedulingGates: gates.map((gate) => ({ name: gate })) },
    });
    const pods = [pod('free'), pod('other', 'example.com/gate'), pod('held', 'kueue.x-k8s.io/admission')];
    expect(gatedPod(pods)?.metadata.name).toBe('held');
    expect(gatedPod(pods.slice(0, 2))).toBeUndefined();
  });

  it('has a position from 1 and the reason of Kueue, where they are known', () => {
    const told = (...about: Parameters<typeof placeInQueue>) => queueMessage(placeInQueue(...about));
    expect(told('slow', workload('False', 'no quota'), pending)).toBe(
      'position 2 in LocalQueue "slow": no quota',
    );
    expect(told('slow', workload('False'), pending)).toBe('position 2 in LocalQueue "slow"');
    expect(told('slow', workload('False', "LocalQueue slow doesn't exist"), undefined)).toBe(
      'it waits in LocalQueue "slow": LocalQueue slow doesn\'t exist',
    );
    expect(told('slow', workload('True', 'Quota reserved'), { ...pending, items: [] })).toBe(
      'it waits in LocalQueue "slow"',
    );
    expect(told('slow', undefined, undefined)).toBe('it waits in LocalQueue "slow"');
    expect(queueMessage({ queue: 'slow', isAdmitted: true })).toBe(
      'LocalQueue "slow" has admitted its pod, which has not started yet',
    );
  });

  it('has a position that is read from its message', () => {
    const message = queueMessage({ queue: 'slow', position: 12, reason: 'no quota' });
    expect(positionIn(message)).toBe(12);
    for (const other of [undefined, '', 'position 3 of somebody', queueMessage({ queue: 'position 3' })])
      expect(positionIn(other)).toBeUndefined();
  });
});
