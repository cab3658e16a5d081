import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  events,
  orders,
  planOrder,
  refusalsOf,
} from '#shared/domain';
import { endpoint, ociType, order } from '../../shared/domain/testing/objects.ts';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { decompose, images, inputs } from './testing/decompose.ts';

function namesOf(children: readonly ArtifactWorkflow[]): string[] {
  return children.map(({ metadata }) => metadata.name).toSorted();
}

/** Refuses tries to create an ArtifactWorkflow with what `refusal` gives for their number, from 1 on, and counts them. */
function refuseCreations(api: FakeApi, refusal: (count: number) => ArcError | undefined) {
  const tries = { count: 0 };
  api.before = ({ verb, resource }) => {
    if (verb !== 'create' || resource !== 'artifactworkflows') return;
    tries.count += 1;
    const refused = refusal(tries.count);
    if (refused !== undefined) throw refused;
  };
  return tries;
}

describe('what an Order lacks', () => {
  it('recreates a deleted child', async () => {
    const one = order('order', images);
    const api = new FakeApi([one, ...inputs]);
    await decompose(api, one);
    const before = namesOf(api.all(artifactWorkflows));
    const [gone] = api.all(artifactWorkflows);
    await api.client.mergePatch(artifactWorkflows, gone?.metadata ?? { name: '' }, {
      metadata: { finalizers: [] },
    });
    await api.client.delete(artifactWorkflows, gone?.metadata ?? { name: '' });
    expect(api.all(artifactWorkflows).length).toBe(2);
    await decompose(api, one);
    expect(namesOf(api.all(artifactWorkflows))).toEqual(before);
  });

  it('accepts a child that another instance has just created', async () => {
    const one = order('order', images);
    const api = new FakeApi([one, ...inputs]);
    const plan = planOrder(one, {
      endpoints: [endpoint('source'), endpoint('destination')],
      types: [ociType()],
    });
    api.before = ({ verb }) => {
      if (verb !== 'create') return;
      api.before = () => undefined;
      for (const artifact of plan.artifacts) if (artifact.state === 'ready') api.put(artifact.workflow);
    };
    await decompose(api, one);
    expect(api.all(artifactWorkflows).length).toBe(3);
    expect(api.all(events)).toEqual([]);
  });

  it('lists the children again when another instance creates them, and does not try each one', async () => {
    const many = Array.from({ length: 100 }, (_, index) => `team/app-${index}:1`);
    const one = order('order', many);
    const api = new FakeApi([one, ...inputs]);
    const plan = planOrder(one, {
      endpoints: [endpoint('source'), endpoint('destination')],
      types: [ociType()],
    });
    const ready = plan.artifacts.flatMap((artifact) =>
      artifact.state === 'ready' ? [artifact.workflow] : [],
    );
    let tries = 0;
    api.before = ({ verb, resource }) => {
      if (verb !== 'create' || resource !== 'artifactworkflows') return;
      // Somebody else made the first ninety a moment ago.
      if (tries === 0) for (const child of ready.slice(0, 90)) api.put(child);
      tries += 1;
    };
    await decompose(api, one);
    expect(api.all(artifactWorkflows).length).toBe(100);
    expect(tries).toBeLessThan(40);
  });

  it('records a Warning when the name of a child is taken, and creates the others', async () => {
    const one = order('order', images);
    const api = new FakeApi([one, ...inputs]);
    const plan = planOrder(one, {
      endpoints: [endpoint('source'), endpoint('destination')],
      types: [ociType()],
    });
    const [first] = plan.artifacts;
    if (first?.state !== 'ready') throw new Error('the plan is not as the test needs it');
    const { ownerReferences: _owners, labels: _labels, ...metadata } = first.workflow.metadata;
    api.put({ ...first.workflow, metadata });
    await decompose(api, one);
    expect(api.all(artifactWorkflows).length).toBe(3);
    const warning = api.all(events).find(({ type }) => type === 'Warning');
    expect(warning).toMatchObject({ reason: 'NameTaken' });
    expect(warning?.message).toContain(first.workflow.metadata.name);
  });

  it('records a Warning when a policy refuses a child, and creates the others', async () => {
    const one = order('order', images);
    const api = new FakeApi([one, ...inputs]);
    refuseCreations(api, (count) => (count === 1 ? new ArcError('Forbidden', 'exceeded quota') : undefined));
    await decompose(api, one);
    expect(api.all(artifactWorkflows).length).toBe(2);
    expect(api.all(events)[0]?.message).toContain('exceeded quota');
  });

  it('notes on the Order which child is refused, until it no longer is, and writes that once', async () => {
    const one = order('order', ['a:1']);
    const api = new FakeApi([one, ...inputs]);
    const tries = refuseCreations(
      api,
      (count) => new ArcError('RequestEntityTooLarge', `too large, try ${count}`),
    );
    await decompose(api, one);
    const noted = api.read(orders, one.metadata);
    expect(Object.values(noted ? refusalsOf(noted) : {})).toMatchObject([
      { reason: 'CreationFailed', message: expect.stringContaining('too large, try 1') },
    ]);
    const about = () => api.writes.filter(({ body }) => JSON.stringify(body).includes('/refused')).length;
    await decompose(api, one);
    expect([tries.count, about()]).toEqual([2, 1]);
    api.before = () => undefined;
    await decompose(api, one);
    expect(api.read(orders, one.metadata)?.metadata.annotations).toBeUndefined();
  });

  it('notes what a quota says in full, and does not try all the others', async () => {
    const many = Array.from({ length: 200 }, (_, index) => `team/app-${index}:1`);
    const one = order('an-order-with-a-name-of-some-length', many);
    const api = new FakeApi([one, ...inputs]);
    const resource = 'count/artifactworkflows.arc.opendefense.cloud';
    const quota = `exceeded quota: arc-settings, requested: ${resource}=1, used: ${resource}=20, limited: ${resource}=20 (delete what is no longer needed)`;
    const refusal = 'artifactworkflows.arc.opendefense.cloud "x" is forbidden';
    const tries = refuseCreations(api, (count) =>
      count > 20 ? new ArcError('Forbidden', `${refusal}: ${quota}`) : undefined,
    );
    await decompose(api, one);
    expect(api.all(artifactWorkflows)).toHaveLength(20);
    expect(tries.count).toBeLessThan(60);
    const noted = api.read(orders, one.metadata);
    const holds = Object.values(noted ? refusalsOf(noted) : {});
    expect(holds.map(({ reason }) => reason)).toEqual(Array.from({ length: 8 }, () => 'QuotaExceeded'));
    expect(holds[0]?.message).toContain(quota);

    // Room for all: one more run makes them.
    api.before = () => undefined;
    await decompose(api, one);
    expect(api.all(artifactWorkflows)).toHaveLength(200);
    expect(api.read(orders, one.metadata)?.metadata.annotations).toBeUndefined();
  });

  it('tries all children before it rejects with a transient error', async () => {
    const one = order('order', images);
    const api = new FakeApi([one, ...inputs]);
    refuseCreations(api, (count) =>
      count === 1 ? new ArcError('ServiceUnavailable', 'etcd is electing') : undefined,
    );
    await expect(decompose(api, one)).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    expect(api.all(artifactWorkflows).length).toBe(2);
  });
});
