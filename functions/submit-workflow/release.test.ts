import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { type ArtifactWorkflow, artifactWorkflows, workflows } from '#shared/domain';
import { contextOf, eventOf } from '../../shared/conduit/runtime/testing/handler-context.ts';
import { unreleased } from '../../shared/domain/submission/workflow.ts';
import { artifactWorkflow, namespace, workflowOf } from '../../shared/domain/testing/objects.ts';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { handle } from './index.ts';

const name = 'order-0123456789abcdef';
const key = { namespace, name };
const ready = artifactWorkflow(name);

function deleted(workflow: ArtifactWorkflow, at = '2026-01-01T23:59:50Z'): ArtifactWorkflow {
  return { ...workflow, metadata: { ...workflow.metadata, deletionTimestamp: at } };
}

describe('submit-workflow, which releases a Workflow only while it is wanted,', () => {
  it.each(['create', 'patch'])(
    'goes on after a crash before it could %s the Workflow, and leaves the suspension of anybody else alone',
    async (crash) => {
      const api = new FakeApi([ready]);
      api.before = ({ verb, resource }) => {
        if (verb === crash && resource === 'workflows') throw new ArcError('ServiceUnavailable', 'killed');
      };
      await expect(handle(contextOf(api), eventOf(ready))).rejects.toMatchObject({ message: 'killed' });
      expect(api.all(workflows).filter(({ spec }) => spec.suspend !== true)).toEqual([]);
      api.before = () => undefined;
      await handle(contextOf(api), eventOf(ready));
      expect(api.read(workflows, key)?.spec.suspend).toBeUndefined();
      await api.client.mergePatch(workflows, key, { spec: { suspend: true } });
      await handle(contextOf(api), eventOf(ready));
      expect(api.read(workflows, key)?.spec.suspend).toBe(true);
    },
  );

  it('does not release the Workflow of an ArtifactWorkflow that was suspended after its creation', async () => {
    const api = new FakeApi([ready]);
    api.before = ({ verb, resource }) => {
      if (verb === 'patch' && resource === 'workflows') throw new ArcError('ServiceUnavailable', 'killed');
    };
    await expect(handle(contextOf(api), eventOf(ready))).rejects.toMatchObject({ message: 'killed' });
    api.before = () => undefined;
    await api.client.mergePatch(artifactWorkflows, key, { spec: { suspend: true } });
    await handle(contextOf(api), eventOf(ready));
    expect(api.read(workflows, key)?.spec.suspend).toBe(true);
    await api.client.mergePatch(artifactWorkflows, key, { spec: { suspend: null } });
    await handle(contextOf(api), eventOf(ready));
    expect(api.read(workflows, key)?.spec.suspend).toBeUndefined();
  });

  describe('whose creation of the Workflow arrives late', () => {
    /** Handles an event, and does `meanwhile` between its decision and its first write. */
    async function late(api: FakeApi, meanwhile: () => Promise<void>): Promise<unknown> {
      const { client } = api;
      const slow: typeof client = Object.create(client, {
        create: {
          value: async (...args: Parameters<typeof client.create>) => {
            await meanwhile();
            return client.create(...args);
          },
        },
      });
      return handle({ ...contextOf(api), api: slow }, eventOf(ready)).catch((caught: unknown) => caught);
    }

    it('lets nothing run after the ArtifactWorkflow was deleted and let go', async () => {
      const api = new FakeApi([ready]);
      await late(api, async () => {
        await api.client.delete(artifactWorkflows, key);
        await handle(contextOf(api), eventOf(ready));
        expect(api.read(artifactWorkflows, key)).toBeUndefined();
      });
      expect(api.all(workflows)).toEqual([]);
    });

    it('lets nothing run again after a Workflow was deleted and its ArtifactWorkflow too', async () => {
      const api = new FakeApi([ready]);
      await handle(contextOf(api), eventOf(ready));
      await api.client.delete(workflows, key);
      await late(api, async () => {
        await api.client.delete(artifactWorkflows, key);
        await handle(contextOf(api), eventOf(ready));
      });
      expect(api.all(workflows)).toEqual([]);
    });

    it('lets nothing run of an ArtifactWorkflow that is being deleted, which waits until the Workflow is gone', async () => {
      const api = new FakeApi([ready]);
      api.time = '2026-01-01T23:59:50Z';
      await late(api, async () => {
        await api.client.delete(artifactWorkflows, key);
      });
      expect(api.read(workflows, key)?.spec.suspend).toBe(true);
      await handle(contextOf(api), eventOf(ready));
      expect(api.all(workflows)).toEqual([]);
      expect(api.read(artifactWorkflows, key)).toBeDefined();
      await handle(contextOf(api), eventOf(ready));
      expect(api.read(artifactWorkflows, key)).toBeUndefined();
    });

    it('stops a Workflow, and does not delete it, that was released while its deletion was under way', async () => {
      const going = deleted(ready);
      const api = new FakeApi([going, unreleased(workflowOf(ready, name))]);
      api.before = ({ verb, resource }) => {
        if (verb !== 'delete' || resource !== 'workflows') return;
        api.before = () => undefined;
        api.put(workflowOf(ready, name, { phase: 'Running' }));
      };
      await expect(handle(contextOf(api), eventOf(going))).rejects.toMatchObject({ code: 'Conflict' });
      await handle(contextOf(api), eventOf(going));
      expect(api.read(workflows, key)?.spec.shutdown).toBe('Terminate');
    });

    it('releases no other Workflow that has its name now', async () => {
      const api = new FakeApi([ready]);
      api.before = ({ verb, resource }) => {
        if (verb !== 'patch' || resource !== 'workflows') return;
        api.before = () => undefined;
        api.remove(workflows, key);
        api.put(unreleased(workflowOf(artifactWorkflow('another'), name)));
      };
      await expect(handle(contextOf(api), eventOf(ready))).rejects.toMatchObject({ code: 'Conflict' });
      expect(api.read(workflows, key)?.spec.suspend).toBe(true);
    });
  });
});
