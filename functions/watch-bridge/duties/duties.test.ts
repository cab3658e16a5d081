import { describe, expect, it } from 'vitest';
import {
  type ArtifactWorkflow,
  type ArtifactWorkflowStatus,
  annotations,
  type Duty,
  duties,
  type Endpoint,
  finalizers,
  isSettled,
  type Order,
  planOrder,
  rollUp,
} from '#shared/domain';
import {
  artifactWorkflow,
  endpoint,
  ociTemplate,
  ociType,
  order,
  workflowOf,
} from '../../../shared/domain/testing/objects.ts';
import type { Observed } from '../view/kept.ts';
import { ObservedView } from '../view/observed-view.ts';

const now = new Date('2026-01-02T03:00:00Z');
const minute = 60_000;
const ends = [endpoint('source'), endpoint('destination')];
const base = [...ends, ociType(), ociTemplate()];

/** What is due, or will be, for an object among others: `<step>` now, `<step> +<s>` later, `<step> look` for a look. */
function dutiesOf(object: Order | ArtifactWorkflow | Endpoint, ...others: object[]): string[] {
  const view = new ObservedView();
  for (const one of [...base, ...others, object]) view.put(one as Observed);
  const when = (duty: Duty) => {
    if ('look' in duty) return ' look';
    return duty.due <= now.getTime() ? '' : ` +${(duty.due - now.getTime()) / 1_000}`;
  };
  return duties(view, object, now).map((duty) => duty.step + when(duty));
}

const fresh = order('one', ['a:1']);
const held = { ...fresh, metadata: { ...fresh.metadata, finalizers: [finalizers.children] } };
const plan = planOrder(held, { endpoints: ends, types: [ociType()] });

/** The ArtifactWorkflow that the Order asks for, and the Order with the status that it has then. */
function both(status: ArtifactWorkflowStatus, spec: Partial<Order['spec']> = {}) {
  const [planned] = plan.artifacts;
  if (planned?.state !== 'ready') throw new Error('the Order cannot be planned');
  const { metadata } = planned.workflow;
  const child: ArtifactWorkflow = {
    ...planned.workflow,
    metadata: { ...metadata, uid: 'uid-child', generation: 1 },
    spec: { ...planned.workflow.spec, revision: 1 },
    status: { observedGeneration: 1, ...status },
  };
  const one: Order = { ...held, spec: { ...held.spec, ...spec } };
  return { child, one: { ...one, status: rollUp(one, plan, [child], now) } };
}

const succeeded: ArtifactWorkflowStatus = {
  phase: 'Succeeded',
  completionTime: '2026-01-02T02:00:00Z',
  attempts: 1,
  syncedAttempt: 1,
};

describe('the duties of an Order', () => {
  it('are to decompose it first, and then to roll it up', () => {
    expect(dutiesOf(fresh)).toEqual(['decompose']);
    expect(dutiesOf(held)).toEqual(['decompose', 'roll-up']);
  });

  it('are none while its status shows its ArtifactWorkflows, and what it was computed from is as it was', () => {
    const { child, one } = both(succeeded);
    expect(dutiesOf(one, child)).toEqual([]);
    const failed = { ...child, status: { ...child.status, phase: 'Failed' as const } };
    expect(dutiesOf(one, failed)).toEqual(['roll-up']);
    const edited = { ...ociType(), metadata: { ...ociType().metadata, generation: 2 } };
    expect(dutiesOf(one, child, edited)).toEqual(['roll-up']);
    expect(dutiesOf(one)).toEqual([]);
  });

  it('are both again after an edit of what moves artifacts', () => {
    const { child, one } = both(succeeded);
    const [source = endpoint('source')] = ends;
    const moved = {
      ...source,
      metadata: { ...source.metadata, generation: 2 },
      spec: { ...source.spec, remoteURL: 'https://elsewhere.example.com' },
      status: { observedGeneration: 2 },
    };
    expect(dutiesOf(one, child, moved)).toEqual(['decompose', 'roll-up']);
  });

  it('are a status that is not named after its inputs, as an earlier release wrote it: it is rolled up once', () => {
    const { child, one } = both(succeeded);
    const { inputs: _inputs, ...status } = one.status ?? {};
    expect(dutiesOf({ ...one, status }, child)).toEqual(['roll-up']);
  });

  it('look again for what the API has refused', () => {
    const note = { [plan.artifacts[0]?.key ?? '']: { reason: 'CreationFailed', message: 'too large' } };
    const refused = {
      ...held,
      metadata: { ...held.metadata, annotations: { [annotations.refused]: JSON.stringify(note) } },
    };
    expect(dutiesOf(refused)).toContain('decompose look');
  });

  it('are to let it go when nothing is left of it', () => {
    const { child, one } = both(succeeded);
    const going = { ...one, metadata: { ...one.metadata, deletionTimestamp: '2026-01-02T02:59:00Z' } };
    expect(dutiesOf(going, child)).toEqual(['decompose']);
    const last = { ...child, metadata: { ...child.metadata, deletionTimestamp: '2026-01-02T02:59:00Z' } };
    expect(dutiesOf(going, last)).toEqual([]);
    expect(dutiesOf(going)).toEqual(['decompose']);
  });

  it('end with its time to live', () => {
    const { child, one } = both(succeeded, { ttl: '1h' });
    const born = { ...one, metadata: { ...one.metadata, creationTimestamp: '2026-01-02T02:30:00Z' } };
    expect(dutiesOf(born, child)).toEqual(['expire +1800']);
  });
});

describe('the duties of an ArtifactWorkflow', () => {
  const name = 'one-0123456789abcdef';
  const workflowRef = { kind: 'Workflow', name, attempt: 1 } as const;
  const submitted = { configSecret: { name }, workflowRef, attempts: 1 };
  const running = { ...submitted, phase: 'Running', syncedAttempt: 1, observedGeneration: 1 } as const;
  const at = (status: ArtifactWorkflowStatus, spec: Partial<ArtifactWorkflow['spec']> = {}) => {
    const made = artifactWorkflow(name, { status });
    return { ...made, spec: { ...made.spec, ...spec } };
  };
  const argo = (phase: 'Running' | 'Succeeded') => workflowOf(at({}), name, { phase });

  it('look at a place in a queue of Kueue, more seldom the further it is from the front', () => {
    const waits = (message?: string) => {
      const phase = 'Queued' as const;
      const status = { ...running, phase, ...(message === undefined ? {} : { message }) };
      const workflow = { ...at(status), status };
      const argoOne = workflowOf(workflow, name, {
        phase: 'Running',
        nodes: { a: { type: 'Pod', phase: 'Pending' } },
      });
      const metadata = { ...argoOne.metadata, labels: { 'kueue.x-k8s.io/queue-name': 'slow' } };
      const view = new ObservedView();
      for (const one of [...base, { ...argoOne, metadata }, workflow]) view.put(one);
      return duties(view, workflow, now);
    };
    const look = (first: number, longest = first) => [
      { step: 'sync', why: 'its place in the queue', look: { first, longest } },
    ];
    expect(waits()).toEqual(look(3_000, 60 * minute));
    expect(waits('position 1 in LocalQueue "slow"')).toEqual(look(10_000));
    expect(waits('position 40 in LocalQueue "slow": no quota')).toEqual(look(80_000));
    expect(waits('position 5000 in LocalQueue "slow"')).toEqual(look(60 * minute));
  });

  it('follow each other: render, submit, sync, render', () => {
    expect(dutiesOf(at({}))).toEqual(['render']);
    expect(dutiesOf(at({ configSecret: { name } }))).toEqual(['submit']);
    expect(dutiesOf(at(submitted), argo('Running'))).toEqual(['render look', 'sync']);
    expect(dutiesOf(at({ ...running, progress: '0/1' }), argo('Running'))).toEqual([]);
    expect(dutiesOf(at(running), argo('Succeeded'))).toEqual(['sync']);
    const done = { ...submitted, ...succeeded, observedGeneration: 1 };
    expect(dutiesOf(at(done))).toEqual(['render']);
    const { configSecret: _gone, ...rest } = done;
    expect(dutiesOf(at(rest))).toEqual([]);
  });

  it('include a look at the Secret of a schedule, which its next run needs', () => {
    const workflowRef = { kind: 'CronWorkflow', name, attempt: 1 } as const;
    const active = { ...submitted, workflowRef, phase: 'Active', syncedAttempt: 1 } as const;
    const scheduled = at(active, { cron: { schedules: ['@daily'] } });
    const schedule = { ...argo('Running'), kind: 'CronWorkflow', spec: {}, status: {} };
    expect(dutiesOf(scheduled, schedule)).toContain('render look');
  });

  it('yield while they report progress, and not for an end', () => {
    const paceOf = (workflow: ArtifactWorkflow, run: object) => {
      const view = new ObservedView();
      for (const one of [...base, workflow, run]) view.put(one as Observed);
      const found = duties(view, workflow, now).find(({ step }) => step === 'sync');
      return found && 'due' in found ? found.pace : undefined;
    };
    const made = { ...argo('Running'), status: {} };
    expect(paceOf(at(submitted), made)).toEqual({ spacing: 2_000, debounce: 3_000, yields: true });
    expect(paceOf(at(submitted), argo('Running'))).toEqual({ spacing: 2_000, debounce: 500, yields: true });
    expect(paceOf(at(running), argo('Succeeded'))).toBeUndefined();
  });

  it('come at their times: the next attempt, the end of a life', () => {
    const failed = { ...running, phase: 'Failed', nextAttemptTime: '2026-01-02T03:00:20Z' } as const;
    expect(dutiesOf(at(failed, { retry: { limit: 1, backoff: '20s' } }), argo('Running'))).toContain(
      'submit +20',
    );
    const { configSecret: _gone, ...done } = { ...submitted, ...succeeded, observedGeneration: 1 };
    expect(dutiesOf(at(done, { ttlAfterFinished: '2h' }))).toEqual(['expire +3600']);
  });

  it('look for what nobody may watch', () => {
    expect(dutiesOf(at({ configReason: 'SecretMissing', configMessage: 'x' }))).toEqual(['render look']);
    const refused = { configSecret: { name }, waitReason: 'SubmissionFailed', waitMessage: 'x' };
    expect(dutiesOf(at(refused))).toEqual(['submit look']);
  });

  it('wait for room under a limit, and are due when there is', () => {
    const limited = (inFlight: string[]) => endpoint('destination', { maxInFlight: 1 }, { inFlight });
    const waiting = at(
      { configSecret: { name }, waitReason: 'LimitReached', waitMessage: 'x' },
      { limitedBy: ['destination'] },
    );
    const other = artifactWorkflow('other', { status: { ...running, workflowRef } });
    const first = {
      ...other,
      metadata: { ...other.metadata, labels: { 'arc.opendefense.cloud/artifact': 'another' } },
      spec: { ...other.spec, limitedBy: ['destination'] },
    };
    expect(dutiesOf(waiting, limited(['other']), first)).toEqual([]);
    expect(dutiesOf(waiting, limited([]))).toEqual(['submit']);
  });
});

describe('the duties of an Endpoint', () => {
  it('are to look at its credentials, then to try it, then to look at both again', () => {
    const guarded = endpoint('guarded', { secretRef: { name: 'login' } });
    expect(dutiesOf({ ...guarded, status: {} })).toEqual(['track-credentials']);
    const counted = { ...guarded, status: { observedGeneration: 1, secretGeneration: 1 } };
    expect(dutiesOf(counted)).toEqual(['track-credentials look', 'probe']);
    const probed = { generation: 1, secretGeneration: 1 };
    const lastProbeTime = new Date(now.getTime() - minute).toISOString();
    const tried = { ...counted, status: { ...counted.status, probed, lastProbeTime } };
    expect(dutiesOf(tried)).toEqual(['track-credentials look', expect.stringMatching(/^probe(?: \+\d+)?$/)]);
  });
});

it('an object is settled when no duty of it is due, though one may come', () => {
  const view = new ObservedView();
  const { child, one } = both(succeeded, { ttl: '1h' });
  const born = { ...one, metadata: { ...one.metadata, creationTimestamp: '2026-01-02T02:30:00Z' } };
  for (const object of [...base, child, born]) view.put(object);
  expect(isSettled(view, born, now)).toBe(true);
  expect(isSettled(view, born, new Date(now.getTime() + 60 * minute))).toBe(false);
});
