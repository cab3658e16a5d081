import { describe, expect, it } from 'vitest';
import { annotations, artifactWorkflows, type Workflow, workflowFor, workflows } from '#shared/domain';
import { contextOf, eventOf } from '../../shared/conduit/runtime/testing/handler-context.ts';
import { orphanPatch } from '../../shared/domain/submission/adopt.ts';
import { artifactWorkflow, namespace } from '../../shared/domain/testing/objects.ts';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { handle } from './index.ts';

const name = 'order-0123456789abcdef';
const key = { namespace, name };
/** As decompose-order makes it anew: the same version of the artifact, another object. */
const plain = artifactWorkflow(name);
const fresh = { ...plain, spec: { ...plain.spec, revision: 3 } };
const ranFor = { ...fresh, metadata: { ...fresh.metadata, uid: 'lost' } };

const made = () => workflowFor(ranFor, 1) as Workflow;

/** A Workflow of the lost ArtifactWorkflow, as `arcctl restore` leaves it. */
function orphan(status: Workflow['status']): Workflow {
  const object = made();
  const annotated = { ...object.metadata.annotations, [annotations.lostOwner]: 'lost' };
  const { ownerReferences: _, ...metadata } = object.metadata;
  return { ...object, metadata: { ...metadata, annotations: annotated }, ...(status && { status }) };
}

describe('submit-workflow after a backup was restored', () => {
  it.each(['Running', 'Succeeded'] as const)(
    'adopts what ran meanwhile and is %s, and starts nothing',
    async (phase) => {
      const api = new FakeApi([fresh, orphan({ phase })]);
      await handle(contextOf(api), eventOf(fresh));
      const [found, ...others] = api.all(workflows);
      expect(others).toEqual([]);
      expect(found?.metadata.ownerReferences).toMatchObject([
        { name, uid: fresh.metadata.uid, controller: true },
      ]);
      expect(found?.metadata.annotations).not.toHaveProperty([annotations.lostOwner]);
      expect(found?.status).toEqual({ phase });
      const { status } = api.read(artifactWorkflows, key) ?? {};
      expect(status).toMatchObject({ attempts: 1, workflowRef: { attempt: 1 } });
      expect(status?.waitReason).toBeUndefined();
    },
  );

  it('hands a run of another version back to the garbage collector, and waits for that', async () => {
    const other = { ...fresh, spec: { ...fresh.spec, revision: 4 } };
    const api = new FakeApi([other, orphan({ phase: 'Succeeded' })]);
    await expect(handle(contextOf(api), eventOf(other))).rejects.toMatchObject({ code: 'Conflict' });
    const [found] = api.all(workflows);
    expect(found?.metadata.ownerReferences).toMatchObject([{ name, uid: 'lost' }]);
    expect(found?.metadata.annotations).not.toHaveProperty([annotations.lostOwner]);
  });

  it('takes no Workflow that somebody else has made', async () => {
    const { annotations: _, ...metadata } = orphan(undefined).metadata;
    const api = new FakeApi([fresh, { ...orphan(undefined), metadata }]);
    await handle(contextOf(api), eventOf(fresh));
    expect(api.read(artifactWorkflows, key)?.status?.waitReason).toBe('NameTaken');
  });
});

describe('orphanPatch', () => {
  it('takes the owner from what no restored ArtifactWorkflow owns, and from nothing else', () => {
    const object = made();
    expect(orphanPatch(object, () => true)).toBeUndefined();
    expect(
      orphanPatch({ ...object, metadata: { ...object.metadata, ownerReferences: [] } }, () => false),
    ).toBeUndefined();
    expect(orphanPatch(object, () => false)).toEqual({
      metadata: { annotations: { [annotations.lostOwner]: 'lost' }, ownerReferences: null },
    });
  });
});
