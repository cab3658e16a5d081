import { describe, expect, it } from 'vitest';
import { type ArtifactWorkflow, annotations, artifactWorkflows, workflows } from '#shared/domain';
import { contextOf, eventOf } from '../../shared/conduit/runtime/testing/handler-context.ts';
import { artifactWorkflow, namespace, workflowOf } from '../../shared/domain/testing/objects.ts';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { handle } from './index.ts';

const name = 'order-0123456789abcdef';
const key = { namespace, name };
const plain = artifactWorkflow(name);

function cancelled(status: ArtifactWorkflow['status'] = {}): ArtifactWorkflow {
  return artifactWorkflow(name, {
    spec: { ...plain.spec, cancel: true },
    status: { configSecret: { name }, ...status },
  });
}

const submitted = {
  phase: 'Running',
  attempts: 1,
  syncedAttempt: 1,
  workflowRef: { kind: 'Workflow', name, attempt: 1 },
} as const;

describe('a cancelled ArtifactWorkflow', () => {
  it('gets no Workflow', async () => {
    const api = new FakeApi([cancelled()]);
    await handle(contextOf(api), eventOf(plain));
    expect(api.writes).toEqual([]);
  });

  it('has its Workflow terminated once, with a note that says why', async () => {
    const workflow = cancelled(submitted);
    const api = new FakeApi([workflow, workflowOf(workflow, name, { phase: 'Running' })]);
    await handle(contextOf(api), eventOf(workflow));
    const { spec, metadata } = api.read(workflows, key) ?? {};
    expect(spec?.shutdown).toBe('Terminate');
    expect(metadata?.annotations).toHaveProperty([annotations.cancelledAt]);
    const before = api.writes.length;
    await handle(contextOf(api), eventOf(workflow));
    expect(api.writes.length).toBe(before);
  });

  it('has its Workflow deleted when a pod ignores that it was asked to end, and kept when none does', async () => {
    const workflow = cancelled(submitted);
    const ended = {
      ...workflowOf(workflow, name, { phase: 'Failed' }),
      spec: { shutdown: 'Terminate' as const },
    };
    const labels = { 'workflows.argoproj.io/workflow': name };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'pod', namespace, labels } };
    const quiet = new FakeApi([workflow, ended, { ...pod, status: { phase: 'Failed' } }]);
    await handle(contextOf(quiet), eventOf(workflow));
    expect(quiet.writes).toEqual([]);
    const stubborn = new FakeApi([workflow, ended, { ...pod, status: { phase: 'Running' } }]);
    await handle(contextOf(stubborn), eventOf(workflow));
    expect(stubborn.all(workflows)).toEqual([]);
  });

  it('has a Workflow deleted that does not end', async () => {
    const workflow = cancelled(submitted);
    const api = new FakeApi([workflow, workflowOf(workflow, name, { phase: 'Running' })]);
    const context = contextOf(api);
    await handle(context, eventOf(workflow));
    const later = new Date(context.now.getTime() + 60_000);
    await handle({ ...context, now: later }, eventOf(workflow));
    expect(api.all(workflows)).toEqual([]);
  });

  it('has a Workflow terminated that was created while it was cancelled', async () => {
    const workflow = cancelled({ ...submitted, phase: 'Cancelled' });
    const api = new FakeApi([workflow, workflowOf(workflow, name, { phase: 'Running' })]);
    await handle(contextOf(api), eventOf(workflow));
    expect(api.read(workflows, key)?.spec.shutdown).toBe('Terminate');
  });

  it('runs again, as another attempt, once it is taken back', async () => {
    const workflow = artifactWorkflow(name, {
      status: {
        ...submitted,
        configSecret: { name },
        phase: 'Cancelled',
        completionTime: '2026-01-01T00:00:00Z',
      },
    });
    const api = new FakeApi([workflow, workflowOf(workflow, name, { phase: 'Failed' })]);
    await handle(contextOf(api), eventOf(workflow));
    expect(api.read(artifactWorkflows, key)?.status).toMatchObject({ attempts: 2 });
    expect(api.all(workflows).map(({ metadata }) => metadata.name)).toEqual([name, `${name}-2`]);
  });
});
