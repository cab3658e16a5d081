import { describe, expect, it } from 'vitest';
import { planOrder } from '../plan/plan.ts';
import { rollUp } from '../roll-up/rollup.ts';
import { stopGraceMs } from '../submission/stopped.ts';
import { endpoint } from '../testing/objects.ts';
import { broken, done, image, inputs, made, now, order } from '../testing/plan-objects.ts';
import { artifactWorkflowDue, isSettled } from './due.ts';

const of = order([image('a')]);

const iso = (date: Date | undefined) => date?.toISOString();

describe('due times', () => {
  it('are those of the next attempt, of stopping and of expiry', () => {
    const retry = { retry: { limit: 1, backoff: '90s' } };
    expect(artifactWorkflowDue(made(of, broken, retry), undefined)).toBeUndefined();
    const retried = made(of, { ...broken, nextAttemptTime: '2026-01-02T03:01:30Z' }, retry);
    expect(iso(artifactWorkflowDue(retried, undefined))).toBe('2026-01-02T03:01:30.000Z');
    const suspended = { ...retried, spec: { ...retried.spec, suspend: true } };
    expect(artifactWorkflowDue(suspended, undefined)).toBeUndefined();
    const going = { ...retried, metadata: { ...retried.metadata, deletionTimestamp: now.toISOString() } };
    expect(iso(artifactWorkflowDue(going, undefined))).toBe(iso(new Date(now.getTime() + stopGraceMs)));
    expect(iso(artifactWorkflowDue(made(of, done, { ttlAfterFinished: '1h' }), undefined))).toBe(
      '2026-01-02T04:00:00.000Z',
    );
  });
});

describe('isSettled', () => {
  it('is settled in the state that the spec asks for', () => {
    const status = rollUp(of, planOrder(of, inputs()), [made(of, done)], now);
    expect(isSettled({ ...of, status })).toBe(true);
    expect(isSettled({ ...of, status, metadata: { ...of.metadata, generation: 2 } })).toBe(false);
    expect(isSettled(of)).toBe(false);
    expect(isSettled(made(of, { ...done, observedGeneration: 1 }))).toBe(true);
    expect(isSettled(made(of, { ...done, observedGeneration: 0 }))).toBe(false);
    expect(isSettled(made(of, {}))).toBe(false);
    expect(isSettled(endpoint('a'))).toBe(true);
    expect(isSettled(endpoint('a', {}, { observedGeneration: 0 }))).toBe(false);
    // Whether its Secret is there is looked at for those who use it.
    expect(isSettled(endpoint('a', { secretRef: { name: 's' } }))).toBe(true);
  });

  it('is settled while it is suspended, unless something of it still runs', () => {
    const suspended = order([image('a')], { suspend: true });
    const waiting = made(suspended, {}, { suspend: true });
    expect(isSettled(waiting)).toBe(true);
    expect(isSettled({ ...waiting, spec: { ...waiting.spec, cancel: true } })).toBe(false);
    const status = rollUp(suspended, planOrder(suspended, inputs()), [waiting], now);
    expect(status.phase).toBe('Suspended');
    expect(isSettled({ ...suspended, status })).toBe(true);
    const workflowRef = { kind: 'Workflow', name: 'a', attempt: 1 } as const;
    expect(isSettled(made(suspended, { phase: 'Running', workflowRef }, { suspend: true }))).toBe(false);
    const retry = { limit: 1 };
    expect(isSettled(made(suspended, broken, { retry, suspend: true }))).toBe(true);
    expect(isSettled(made(of, broken, { retry }))).toBe(false);
  });

  it('is settled where an artifact has failed beside a schedule, until a retry is asked for', () => {
    const mixed = order([image('a'), { ...image('b'), cron: { schedules: ['@daily'] } }]);
    const entries = {
      a: { artifactIndex: 0, phase: 'Failed', completionTime: '2026-01-02T03:00:00Z' },
      b: { artifactIndex: 1, phase: 'Active' },
    } as const;
    const status = { phase: 'Scheduled', observedGeneration: 1, artifactWorkflows: entries } as const;
    const asked = (at: string) => {
      const seconds = String(Date.parse(at) / 1000);
      return { ...mixed.metadata, annotations: { 'arc.opendefense.cloud/retry-at': seconds } };
    };
    expect(isSettled({ ...mixed, status })).toBe(true);
    expect(isSettled({ ...mixed, status, metadata: asked('2026-01-02T02:00:00Z') })).toBe(true);
    expect(isSettled({ ...mixed, status, metadata: asked('2026-01-02T04:00:00Z') })).toBe(false);
  });

  it('is settled between two runs of a schedule', () => {
    const status = { phase: 'Active', observedGeneration: 1 } as const;
    const scheduled = made(of, status, { cron: { schedules: ['@daily'] } });
    expect(isSettled(scheduled)).toBe(true);
    const active = { ...status, activeWorkflowRef: { name: 'run' } };
    expect(isSettled({ ...scheduled, status: active })).toBe(false);
    // An edit has not reached the CronWorkflow yet.
    expect(isSettled({ ...scheduled, metadata: { ...scheduled.metadata, generation: 2 } })).toBe(false);
  });

  it('is settled while it is being deleted only when nothing of ours holds it', () => {
    const deletionTimestamp = now.toISOString();
    const going = (holder: string) => ({
      ...made(of, done),
      metadata: { ...made(of, done).metadata, deletionTimestamp, finalizers: [holder] },
    });
    expect(isSettled(going('arc.opendefense.cloud/workflow'))).toBe(false);
    expect(isSettled(going('example.com/backup'))).toBe(true);
  });

  it('is not settled while a force is not answered', () => {
    const status = rollUp(of, planOrder(of, inputs()), [made(of, done)], now);
    const forced = { ...of.metadata, annotations: { 'arc.opendefense.cloud/force-at': '1767323045' } };
    expect(isSettled({ ...of, status, metadata: forced })).toBe(false);
    const answered = { ...status, lastForceAt: '2026-01-02T03:04:05Z' };
    expect(isSettled({ ...of, status: answered, metadata: forced })).toBe(true);
    const later = { ...of.metadata, annotations: { 'arc.opendefense.cloud/force-at': '1767323046' } };
    expect(isSettled({ ...of, status: answered, metadata: later })).toBe(false);
  });

  it('is settled when it has failed for good, until a retry is asked for', () => {
    const status = rollUp(of, planOrder(of, inputs()), [made(of, broken)], now);
    expect(status.phase).toBe('Failed');
    expect(isSettled({ ...of, status })).toBe(true);
    const retried = (seconds: string) => {
      const annotations = { 'arc.opendefense.cloud/retry-at': seconds };
      return isSettled({ ...of, status, metadata: { ...of.metadata, annotations } });
    };
    expect(retried('1767322000')).toBe(true);
    expect(retried('1767333045')).toBe(false);
    const entry = { artifactIndex: 0, phase: 'Invalid', message: 'no such type' };
    const invalid = { ...status, artifactWorkflows: { 'index-0': entry } };
    expect(isSettled({ ...of, status: invalid })).toBe(true);
  });
});
