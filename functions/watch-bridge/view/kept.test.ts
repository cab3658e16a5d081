import { describe, expect, it } from 'vitest';
import { fc, runs } from '#shared/base/testing';
import { type ArtifactWorkflow, type Order, type Secret, shownOf, type Workflow } from '#shared/domain';
import { artifactWorkflow, order, workflowOf } from '../../../shared/domain/testing/objects.ts';
import { dutiesIn } from '../testing/duties-in.ts';
import { histories, World } from '../testing/history.ts';
import { type Observed, trimmed } from './kept.ts';
import { ObservedView } from './observed-view.ts';

const bytesOf = (object: unknown) => JSON.stringify(object).length;
const now = new Date('2026-01-02T03:30:00Z');

describe('trimmed', () => {
  it('keeps all that the duties of any object depend on', () => {
    fc.assert(
      fc.property(histories, (steps) => {
        const [whole, part] = [new ObservedView(), new ObservedView()];
        const world = new World((object, gone) => {
          if (gone) for (const view of [whole, part]) view.remove(object);
          else {
            whole.put(object);
            part.put(trimmed(object));
          }
        });
        for (const step of steps) world.take(step);
        expect(dutiesIn(part, now)).toEqual(dutiesIn(whole, now));
      }),
      { numRuns: runs(60) },
    );
  });

  it('drops the nodes of a Workflow, but for what they say of its queue and of an end that was cut short', () => {
    const value = JSON.stringify({ outcome: 'succeeded', digest: 'sha256:1' });
    const nodes = {
      a: { type: 'Pod', message: 'x'.repeat(1000), outputs: { parameters: [{ name: 'result', value }] } },
    };
    const whole = workflowOf(artifactWorkflow('a'), 'a', { phase: 'Succeeded', nodes });
    expect(bytesOf(trimmed(whole))).toBeLessThan(600);
    const stopped = { ...whole, spec: { shutdown: 'Terminate' } } as Workflow;
    const kept = trimmed(stopped) as Workflow;
    expect(kept.status?.outputs?.parameters).toEqual([{ name: 'result', value: '{"outcome":"succeeded"}' }]);
    const labels = { 'kueue.x-k8s.io/queue-name': 'q' };
    const waiting = {
      ...whole,
      metadata: { ...whole.metadata, labels },
      status: { phase: 'Running', nodes: { a: { type: 'Pod', phase: 'Pending' } } },
    } satisfies Workflow;
    expect((trimmed(waiting) as Workflow).status?.nodes).toEqual({
      queued: { type: 'Pod', phase: 'Pending' },
    });
  });

  it('drops parameters, conditions and what the worker reported of an ArtifactWorkflow and an Order', () => {
    const condition = {
      type: 'Ready',
      status: 'True',
      reason: 'R',
      message: 'm'.repeat(200),
      lastTransitionTime: 't',
    };
    const workflow = artifactWorkflow('a', {
      status: { conditions: [condition], results: { digest: 'sha256:1', warnings: ['w'.repeat(500)] } },
    } as never);
    expect(bytesOf(trimmed(workflow))).toBeLessThan(1_000);
    const one = { ...order('one', ['a:1']), status: { message: 'm', conditions: [condition] } } as Order;
    // Its domain events quote the message.
    expect((trimmed(one) as Order).status).toEqual({
      message: 'm',
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: 't' }],
    });
  });

  it('keeps what the entry of its Order shows: roll-up would be due forever', () => {
    const results = {
      outcome: 'succeeded',
      digest: 'sha256:1',
      bytes: { copied: 7, existed: 8, mounted: 9 },
    } as const;
    const status = { phase: 'Succeeded', completionTime: '2026-01-02T03:04:05Z', results } as const;
    const workflow = artifactWorkflow('a', { status });
    expect(shownOf(trimmed(workflow) as ArtifactWorkflow)).toEqual(shownOf(workflow));
  });

  it('keeps nothing of a Secret that could be a credential', () => {
    const applied = {
      'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"password":"aHVudGVyMg=="}}',
    };
    const metadata = { name: 's', namespace: 'team', uid: 'u', resourceVersion: '7', annotations: applied };
    const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata, data: { password: 'aHVudGVyMg==' } };
    expect(trimmed(secret)).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's', namespace: 'team', uid: 'u', resourceVersion: '7' },
    });
  });

  it('keeps of annotations what functions read', () => {
    const applied = { 'kubectl.kubernetes.io/last-applied-configuration': '{"spec":{}}' };
    const kept = (kind: string, annotations: Record<string, string>) =>
      trimmed({ apiVersion: 'v1', kind, metadata: { name: 'a', annotations }, spec: {} } as Observed)
        .metadata;
    const forced = { 'arc.opendefense.cloud/force-at': '1' };
    expect(kept('Order', { ...applied, ...forced, team: 'x' })).toEqual({ name: 'a', annotations: forced });
    expect(kept('Order', { ...applied, team: 'x' })).toEqual({ name: 'a' });
    expect(kept('Endpoint', { ...applied, rotated: '1' })).toEqual({
      name: 'a',
      annotations: { rotated: '1' },
    });
  });

  it('drops managedFields', () => {
    const whole = artifactWorkflow('a');
    const managed = { ...whole, metadata: { ...whole.metadata, managedFields: [{ manager: 'kubectl' }] } };
    expect(trimmed(managed).metadata).toEqual(whole.metadata);
  });
});
