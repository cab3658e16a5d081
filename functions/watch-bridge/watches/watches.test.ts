import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/errors';
import type { KubeObject } from '#shared/meta';
import { artifactWorkflow, order, workflowOf } from '../../../shared/domain/testing/objects.ts';
import { failureMessage, trimmed } from './watches.ts';

describe('trimmed', () => {
  it('keeps of a CronWorkflow why Argo can start no run', () => {
    const conditions = [{ type: 'SubmissionError', status: 'True', message: 'no template' }];
    const status = { active: [], conditions };
    const whole = {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'CronWorkflow',
      metadata: { name: 'c' },
      status,
    };
    expect(trimmed(whole).status).toEqual(status);
  });

  it('keeps progress and outcome of a Workflow and drops its nodes', () => {
    const whole = workflowOf(artifactWorkflow('a'), 'a', {
      phase: 'Failed',
      message: 'no',
      nodes: { a: { message: 'x'.repeat(1000) } },
    });
    expect(trimmed(whole)).toMatchObject({ status: { phase: 'Failed', message: 'no' } });
    expect(JSON.stringify(trimmed(whole)).length).toBeLessThan(600);
    expect(trimmed(whole).metadata.ownerReferences).toEqual(whole.metadata.ownerReferences);
  });

  it('records that a Workflow waits in a queue, which only its nodes show', () => {
    const queued = (phase: string) => {
      const status = { phase: 'Running' as const, nodes: { a: { type: 'Pod', phase } } };
      const whole = workflowOf(artifactWorkflow('a'), 'a', status);
      const labels = { ...whole.metadata.labels, 'kueue.x-k8s.io/queue-name': 'q' };
      return trimmed({ ...whole, metadata: { ...whole.metadata, labels } }).status;
    };
    expect(queued('Pending')).toEqual({ phase: 'Running', queued: true });
    expect(queued('Running')).toEqual({ phase: 'Running' });
  });

  const since = { lastTransitionTime: '2026-01-01T00:00:00Z' };
  const more = { reason: 'R', message: 'm', observedGeneration: 1, ...since };
  const conditions = [
    { type: 'Ready', status: 'True', ...more },
    { type: 'Reconciling', status: 'True', ...more },
  ];
  const short = [
    { type: 'Ready', status: 'True' },
    { type: 'Reconciling', status: 'True', ...since },
  ];

  it('drops from an ArtifactWorkflow the fields that never change, and of its status what nobody here reads', () => {
    const whole = artifactWorkflow('a');
    const { artifact: _artifact, ...spec } = whole.spec;
    expect(trimmed(whole)).toEqual({ ...whole, spec });
    const results = { digest: 'sha256:1', outcome: 'succeeded', bytes: { copied: 1 } };
    const ended = { ...whole, status: { phase: 'Succeeded', conditions, results } };
    const { bytes: _bytes, ...kept } = results;
    expect(trimmed(ended).status).toEqual({ phase: 'Succeeded', conditions: short, results: kept });
    const arrived = { ...whole, status: { results: { digest: `sha256:${'0123456789abcdef'.repeat(4)}` } } };
    expect(trimmed(arrived).status).toEqual({ results: { digest: 'sha256:0123456789abcdef' } });
  });

  it('drops from an Order what its artifacts are, the digests of what arrived and the texts of conditions', () => {
    const entry = { artifactIndex: 0, phase: 'Succeeded', completionTime: '2026-01-01T00:00:00Z' };
    const artifactWorkflows = { one: { ...entry, digest: 'sha256:1' } };
    const fresh = order('a', ['a:1']);
    const artifacts = fresh.spec.artifacts?.map(({ spec: _spec, ...artifact }) => artifact);
    const spec = { ...fresh.spec, artifacts };
    expect(trimmed(fresh as unknown as KubeObject)).toEqual({ ...fresh, spec });
    const whole = { ...fresh, status: { phase: 'Succeeded', conditions, artifactWorkflows } };
    expect(trimmed(whole as unknown as KubeObject)).toEqual({
      ...whole,
      spec,
      status: { phase: 'Succeeded', conditions: short, artifactWorkflows: { one: entry } },
    });
  });

  it('keeps nothing of a Secret that could be a credential', () => {
    const applied = {
      'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"password":"aHVudGVyMg=="}}',
    };
    const metadata = { name: 's', namespace: 'team', uid: 'u', resourceVersion: '7', annotations: applied };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata, data: { password: 'aHVudGVyMg==' } };
    expect(trimmed(secret)).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's', namespace: 'team', uid: 'u', resourceVersion: '7' },
    });
  });

  it('keeps of annotations what functions read', () => {
    const applied = { 'kubectl.kubernetes.io/last-applied-configuration': '{"spec":{}}' };
    const kept = (kind: string, annotations: Record<string, string>) =>
      trimmed({ apiVersion: 'v1', kind, metadata: { name: 'a', annotations }, spec: {} }).metadata;
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

describe('failureMessage', () => {
  const kind = { kind: 'Workflow', apiVersion: 'argoproj.io/v1alpha1' };

  it('asks whether a kind is installed only when the server answers 404 for the kind', () => {
    const said = (code: ConstructorParameters<typeof ArcError>[0], details = {}) =>
      failureMessage(kind, new ArcError(code, 'x', { details }));
    expect(said('NotFound')).toContain('not installed?');
    for (const code of ['ServiceUnavailable', 'Timeout'] as const)
      expect(said(code)).toBe('cannot watch Workflow: the API server cannot be reached; retrying');
    expect(said('NotFound', { name: 'workflows' })).toBe('cannot watch Workflow; retrying');
    expect(said('Forbidden')).toBe('cannot watch Workflow; retrying');
  });
});
