import { describe, expect, it } from 'vitest';
import { ownerReference } from '#shared/base/meta';
import type { Workflow } from '../executor/workflow.ts';
import type { CronWorkflow } from './cron-workflow.ts';
import { decideCron } from './decide.ts';

const at = (text: string) => new Date(`2026-01-01T${text}Z`);
const seconds = (text: string) => at(text).getTime() / 1_000;

function nightly(spec: Partial<CronWorkflow['spec']> = {}, status?: CronWorkflow['status']): CronWorkflow {
  return {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'CronWorkflow',
    metadata: { name: 'nightly', namespace: 'team', uid: 'cron', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      schedules: ['0 3 * * *', '0 4 * * *'],
      workflowSpec: { workflowTemplateRef: { name: 'oci' } },
      workflowMetadata: { labels: { team: 'a' } },
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  };
}

function run(time: string, phase?: 'Running' | 'Succeeded' | 'Failed'): Workflow {
  return {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Workflow',
    metadata: {
      name: `nightly-${seconds(time)}`,
      namespace: 'team',
      uid: `run ${time}`,
      ownerReferences: [ownerReference(nightly())],
    },
    spec: {},
    status: phase === undefined ? {} : { phase, finishedAt: at(time).toISOString() },
  };
}

const active = (...times: string[]) => times.map((time) => ({ name: `nightly-${seconds(time)}` }));

describe('decideCron', () => {
  it('starts a run when its time has come, named and marked as Argo does', () => {
    const decision = decideCron(nightly(), [], at('03:00:00'));
    expect(decision.start).toMatchObject({
      kind: 'Workflow',
      metadata: {
        name: `nightly-${seconds('03:00:00')}`,
        labels: { team: 'a', 'workflows.argoproj.io/cron-workflow': 'nightly' },
        annotations: { 'workflows.argoproj.io/scheduled-time': '2026-01-01T03:00:00Z' },
        ownerReferences: [{ kind: 'CronWorkflow', uid: 'cron', controller: true }],
      },
      spec: { workflowTemplateRef: { name: 'oci' } },
    });
    expect(decision.status).toMatchObject({
      active: active('03:00:00'),
      lastScheduledTime: '2026-01-01T03:00:00Z',
      succeeded: 0,
      failed: 0,
    });
    expect(decision.next).toBe(at('04:00:00').getTime());
  });

  it('starts nothing before, nothing twice, and nothing while it is suspended or deleted', () => {
    const done = { lastScheduledTime: '2026-01-01T03:00:00Z' };
    expect(decideCron(nightly(), [], at('02:59:59')).start).toBeUndefined();
    expect(decideCron(nightly({}, done), [], at('03:00:05')).start).toBeUndefined();
    const suspended = decideCron(nightly({ suspend: true }), [], at('03:00:00'));
    expect(suspended).toMatchObject({ replace: [], remove: [] });
    expect(suspended.start ?? suspended.next).toBeUndefined();
    const gone = nightly();
    gone.metadata.deletionTimestamp = '2026-01-01T03:00:00Z';
    expect(decideCron(gone, [], at('03:00:00'))).toEqual({ replace: [], remove: [] });
  });

  it('makes a missed run good within startingDeadlineSeconds, the latest only', () => {
    expect(decideCron(nightly(), [], at('04:10:00')).start).toBeUndefined();
    const late = decideCron(nightly({ startingDeadlineSeconds: 900 }), [], at('04:10:00'));
    expect(late.start?.metadata.name).toBe(`nightly-${seconds('04:00:00')}`);
    expect(decideCron(nightly({ startingDeadlineSeconds: 300 }), [], at('04:10:00')).start).toBeUndefined();
  });

  it('skips a run while another is under way (Forbid), and does not make it good when that ends', () => {
    const forbid = nightly(
      { concurrencyPolicy: 'Forbid' },
      { active: active('03:00:00'), lastScheduledTime: '2026-01-01T03:00:00Z' },
    );
    const skipped = decideCron(forbid, [run('03:00:00', 'Running')], at('04:00:00'));
    expect(skipped.start).toBeUndefined();
    expect(skipped.considered).toEqual(at('04:00:00'));
    const later = decideCron(forbid, [run('03:00:00', 'Succeeded')], at('04:00:03'), skipped.considered);
    expect(later.start).toBeUndefined();
  });

  it('terminates the run under way (Replace), or runs beside it (Allow)', () => {
    const status = { active: active('03:00:00'), lastScheduledTime: '2026-01-01T03:00:00Z' };
    const running = run('03:00:00', 'Running');
    const replaced = decideCron(nightly({ concurrencyPolicy: 'Replace' }, status), [running], at('04:00:00'));
    expect(replaced.replace).toEqual([running]);
    const beside = decideCron(nightly({}, status), [running], at('04:00:00'));
    expect(beside.replace).toEqual([]);
    expect(beside.status?.active?.map(({ name }) => name)).toEqual(
      active('03:00:00', '04:00:00').map(({ name }) => name),
    );
  });

  it('counts each end once', () => {
    const cron = nightly({}, { active: active('03:00:00', '04:00:00'), succeeded: 2, failed: 1 });
    const ended = [run('03:00:00', 'Succeeded'), run('04:00:00', 'Failed')];
    const { status } = decideCron(cron, ended, at('05:00:00'));
    expect(status).toMatchObject({ active: [], succeeded: 3, failed: 2 });
    expect(
      decideCron(nightly({}, { ...status, lastScheduledTime: '2026-01-01T04:00:00Z' }), ended, at('05:00:00'))
        .status,
    ).toBeUndefined();
  });

  it('records a run that it started and did not get to record', () => {
    const { status } = decideCron(nightly(), [run('03:00:00', 'Running')], at('03:30:00'));
    expect(status?.active?.map(({ uid }) => uid)).toEqual(['run 03:00:00']);
  });

  it('removes ended runs beyond the limits of history once they are counted', () => {
    const cron = nightly(
      { successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 },
      { active: active('02:00:00') },
    );
    const runs = [
      run('00:00:00', 'Succeeded'),
      run('01:00:00', 'Succeeded'),
      run('00:30:00', 'Failed'),
      run('02:00:00', 'Failed'),
    ];
    const names = decideCron(cron, runs, at('02:30:00')).remove.map(({ metadata }) => metadata.uid);
    expect(names).toEqual(['run 00:00:00', 'run 00:30:00']);
  });

  it('leaves alone what it does not own', () => {
    const foreign = { ...run('03:00:00', 'Running'), metadata: { name: 'other', namespace: 'team' } };
    expect(decideCron(nightly(), [foreign], at('02:00:00')).status).toBeUndefined();
  });

  it('starts a run only where `when` lets it', () => {
    const condition = '{{= cronworkflow.failed < 2 }}';
    const decide = (when: string, failed: number) =>
      decideCron(nightly({ when }, { failed }), [], at('03:00:00'));
    expect(decide(condition, 1).start).toBeDefined();
    expect(decide(condition, 2)).toMatchObject({ considered: at('03:00:00') });
    expect(decide(condition, 2).start).toBeUndefined();
    const refused = decide('{{= nil > 1 }}', 0);
    expect(refused.start).toBeUndefined();
    expect(refused.problem?.message).toContain('cannot compare a nil with a number');
  });
});
