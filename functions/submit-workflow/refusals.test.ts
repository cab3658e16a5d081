import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { type ArtifactWorkflow, artifactWorkflows, events, finalizers, workflows } from '#shared/domain';
import { contextOf, eventOf } from '../../shared/conduit/runtime/testing/handler-context.ts';
import { artifactWorkflow, namespace, workflowOf } from '../../shared/domain/testing/objects.ts';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { handle } from './index.ts';

const name = 'order-0123456789abcdef';
const key = { namespace, name };
const ready = artifactWorkflow(name);

function deleted(workflow: ArtifactWorkflow, at = '2026-01-01T23:59:50Z'): ArtifactWorkflow {
  return { ...workflow, metadata: { ...workflow.metadata, deletionTimestamp: at } };
}

describe('submit-workflow, where a Workflow cannot be made,', () => {
  const statusOf = (api: FakeApi) => api.read(artifactWorkflows, key)?.status;

  describe('without rights in the namespace', () => {
    const withoutRights = (workflow: ArtifactWorkflow) => {
      const api = new FakeApi([workflow]);
      api.before = ({ resource }) => {
        if (['workflows', 'cronworkflows', 'pods'].includes(resource))
          throw new ArcError('Forbidden', 'workflows is forbidden: User "a" cannot get resource "workflows"');
      };
      return api;
    };

    it('waits and says which command gives them, once', async () => {
      const api = withoutRights(ready);
      await handle(contextOf(api), eventOf(ready));
      const waiting = api.read(artifactWorkflows, key);
      expect(waiting?.status?.waitMessage).toContain(`kubectl apply -k knative/tenant -n ${namespace}`);
      const before = api.writes.length;
      await handle(contextOf(api), eventOf(ready));
      expect(api.writes.length).toBe(before);
    });

    it('lets one that is being deleted go', async () => {
      const ending = deleted(ready);
      const api = withoutRights(ending);
      await handle(contextOf(api), eventOf(ending));
      expect(api.read(artifactWorkflows, key)?.metadata.finalizers ?? []).not.toContain(finalizers.workflow);
    });
  });

  it('says which foreign Workflow has the name, in the status and as a Warning', async () => {
    const foreign = artifactWorkflow('foreign');
    const api = new FakeApi([ready]);
    api.before = ({ verb, resource }) => {
      if (verb === 'create' && resource === 'workflows') api.put(workflowOf(foreign, name));
    };
    await handle(contextOf(api), eventOf(ready));
    expect(api.all(events)[0]).toMatchObject({ reason: 'NameTaken', type: 'Warning' });
    const told = { waitReason: 'NameTaken', waitMessage: expect.stringContaining('another owner') };
    expect(statusOf(api)).toMatchObject(told);
    await handle(contextOf(api), eventOf(ready));
    expect(statusOf(api)).toMatchObject(told);
  });

  it('asks nobody to delete the Workflow of an earlier one of its name, and starts when that is gone', async () => {
    const earlier = artifactWorkflow(name, { metadata: { ...ready.metadata, uid: 'uid-earlier' } });
    const api = new FakeApi([ready]);
    api.before = ({ verb, resource }) => {
      if (verb === 'create' && resource === 'workflows') api.put(workflowOf(earlier, name));
    };
    await expect(handle(contextOf(api), eventOf(ready))).rejects.toMatchObject({ code: 'Conflict' });
    await handle(contextOf(api), eventOf(ready));
    expect(statusOf(api)).toMatchObject({ waitReason: 'Preparing' });
    expect(api.all(events).filter(({ type }) => type === 'Warning')).toEqual([]);
    api.before = () => undefined;
    api.remove(workflows, key);
    await handle(contextOf(api), eventOf(ready));
    expect(api.all(workflows)[0]?.metadata.ownerReferences?.[0]?.uid).toBe(ready.metadata.uid);
    expect(statusOf(api)).not.toHaveProperty('waitReason');
  });

  it('says how to give it a namespace in which it may not create Workflows', async () => {
    const api = new FakeApi([ready]);
    const answer =
      'workflows.argoproj.io is forbidden: User "x" cannot create resource "workflows" in API group "argoproj.io"';
    api.before = ({ verb }) => {
      if (verb === 'create') throw new ArcError('Forbidden', answer);
    };
    await handle(contextOf(api), eventOf(ready));
    expect(statusOf(api)).toMatchObject({
      waitReason: 'NamespaceNotGiven',
      waitMessage: expect.stringContaining('kubectl apply -k knative/tenant -n team'),
    });
  });

  it('says that Argo is not installed', async () => {
    const api = new FakeApi([ready]);
    api.before = ({ verb }) => {
      if (verb === 'create') throw new ArcError('NotFound', 'the server does not know workflows');
    };
    await handle(contextOf(api), eventOf(ready));
    expect(statusOf(api)).toMatchObject({ waitReason: 'ArgoMissing' });
  });

  it('tries again for a Workflow without an account only when the account is there', async () => {
    const failed = artifactWorkflow(name, {
      status: {
        phase: 'Error',
        message:
          'error looking up service account team/arc-workflow: serviceaccount "arc-workflow" not found',
        attempts: 1,
        syncedAttempt: 1,
        configSecret: { name },
        workflowRef: { kind: 'Workflow', name, attempt: 1 },
        completionTime: '2026-01-01T23:00:00Z',
        nextAttemptTime: '2026-01-01T23:00:10Z',
      },
    });
    const api = new FakeApi([failed, workflowOf(ready, name, { phase: 'Error' })]);
    await handle(contextOf(api), eventOf(failed));
    expect(api.writes).toEqual([]);
    api.put({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'arc-workflow', namespace } });
    await handle(contextOf(api), eventOf(failed));
    expect(api.read(workflows, { namespace, name: `${name}-2` })).toBeDefined();
  });

  it('says why Argo refuses the Workflow until it no longer does, and the same all the while', async () => {
    const api = new FakeApi([ready]);
    api.before = ({ verb, resource }) => {
      if (verb === 'create' && resource === 'workflows')
        throw new ArcError('Invalid', 'spec.hooks is not supported');
    };
    await handle(contextOf(api), eventOf(ready));
    expect(api.all(events)[0]).toMatchObject({ reason: 'SubmissionFailed' });
    expect(api.all(events)[0]?.message).toContain('spec.hooks is not supported');
    const told = {
      waitReason: 'SubmissionFailed',
      waitMessage: expect.stringContaining('spec.hooks is not supported'),
    };
    expect(statusOf(api)).toMatchObject(told);
    const before = api.writes.length;
    await handle(contextOf(api), eventOf(ready));
    expect(api.writes.length).toBe(before);
    api.before = () => undefined;
    await handle(contextOf(api), eventOf(ready));
    expect(api.all(workflows)).toHaveLength(1);
    expect(statusOf(api)).not.toHaveProperty('waitReason');
    expect(statusOf(api)).not.toHaveProperty('waitMessage');
  });
});
