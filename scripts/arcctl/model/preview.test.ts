import { describe, expect, it } from 'vitest';
import { type ArtifactWorkflow, type Order, planOrder } from '#shared/domain';
import { endpoint, ociType, order } from '../../../shared/domain/testing/objects.ts';
import { addSharedTargets, newTargets, previewOf } from './preview.ts';

const inputs = {
  endpoints: [endpoint('source'), endpoint('destination'), endpoint('push', { usage: 'PushOnly' })],
  types: [ociType()],
};

function named(specs: Record<string, object>): Order {
  const artifacts = Object.entries(specs).map(([name, over]) => ({
    name,
    type: 'oci',
    spec: { image: `${name}:1` },
    ...over,
  }));
  return order('order', [], { artifacts });
}

/** The ArtifactWorkflows that the plan makes, as sync-status leaves them. */
function made(of: Order, phases: Record<string, ArtifactWorkflow['status']>): ArtifactWorkflow[] {
  return planOrder(of, inputs).artifacts.flatMap((artifact) => {
    const status = phases[artifact.name ?? ''];
    if (artifact.state !== 'ready' || status === undefined) return [];
    return [{ ...artifact.workflow, spec: { ...artifact.workflow.spec, revision: 1 }, status }];
  });
}

const preview = (of: Order, existing: ArtifactWorkflow[] = []) =>
  previewOf(of, planOrder(of, inputs), existing).map(({ artifact, action, reason }) => [
    artifact,
    action,
    reason,
  ]);

const workflowRef = { kind: 'Workflow', name: 'w', attempt: 1 } as const;
const ended = '2026-01-01T00:00:00Z';

describe('another Order that writes to the same place', () => {
  it('is named', () => {
    const [first, second] = ['first', 'second'].map((name) =>
      order(name, [], { artifacts: [{ name: 'a', type: 'oci', spec: { image: 'a:1' } }] }),
    ) as [Order, Order];
    const outcomes = previewOf(second, planOrder(second, inputs), []);
    const others = made(first, { a: { phase: 'Succeeded' } });
    expect(newTargets(outcomes)).toEqual([others[0]?.metadata.labels?.['arc.opendefense.cloud/target']]);
    const [shared] = addSharedTargets(second, outcomes, others);
    expect(shared?.message).toBe('new; Order "first" has the same target: each overwrites the other');
    expect(addSharedTargets(first, previewOf(first, planOrder(first, inputs), []), others)[0]?.message).toBe(
      'new',
    );
  });
});

describe('what would become of an Order', () => {
  it('runs what is new, and refuses or holds what cannot run', () => {
    const wanted = named({
      new: {},
      wrong: { srcRef: { name: 'push' } },
      lost: { srcRef: { name: 'nowhere' } },
      not: { cancel: true },
    });
    expect(preview(wanted)).toEqual([
      ['new', 'run', ''],
      ['wrong', 'refuse', 'UsageMismatch'],
      ['lost', 'wait', 'EndpointMissing'],
      ['not', 'cancel', ''],
    ]);
  });

  it('re-uses what has arrived, lets go on what runs, keeps what failed, and removes what is no longer listed', () => {
    const before = named({ there: {}, moving: {}, failed: {}, gone: {} });
    const existing = made(before, {
      there: { phase: 'Succeeded', completionTime: ended, workflowRef, syncedAttempt: 1 },
      moving: { phase: 'Running', workflowRef, syncedAttempt: 1 },
      failed: { phase: 'Failed', completionTime: ended, workflowRef, syncedAttempt: 1, attempts: 1 },
      gone: { phase: 'Succeeded', completionTime: ended, workflowRef, syncedAttempt: 1 },
    });
    expect(preview(named({ there: {}, moving: {}, failed: {} }), existing)).toEqual([
      ['there', 're-use', ''],
      ['moving', 'goes on', ''],
      ['failed', 'keep', ''],
      ['gone', 'remove', ''],
    ]);
  });

  it('runs an artifact again that was edited, and says why', () => {
    const existing = made(named({ app: {} }), {
      app: { phase: 'Succeeded', completionTime: ended, workflowRef, syncedAttempt: 1 },
    });
    const edited = named({ app: { spec: { image: 'app:2' } } });
    const [outcome] = previewOf(edited, planOrder(edited, inputs), existing);
    expect(outcome).toMatchObject({
      artifact: 'app',
      action: 'run',
      message: expect.stringContaining('edit'),
    });
  });
});
