import { describe, expect, it } from 'vitest';
import {
  type ArtifactWorkflow,
  annotations,
  artifactWorkflows,
  events,
  finalizers,
  labels,
  type Order,
  orders,
  planOrder,
  refusalsOf,
} from '#shared/domain';
import { ArcError } from '#shared/errors';
import { endpoint, namespace, ociTemplate, ociType, order } from '../../shared/domain/testing/objects.ts';
import { FakeApi } from '../../shared/kube/testing/fake-api/fake-api.ts';
import { contextOf, wakeOf } from '../../shared/runtime/testing/handler-context.ts';
import { handle } from './index.ts';

const known = [endpoint('source'), endpoint('destination')];
const inputs = [...known, ociTemplate(), ociType()];
const images = ['team/app:1', 'team/web:1', 'team/db:1'];

function wake(api: FakeApi, object: Order): Promise<undefined> {
  return handle(contextOf(api), wakeOf(object));
}

function without(children: readonly ArtifactWorkflow[]): string[] {
  return children.map(({ metadata }) => metadata.name).toSorted();
}

describe('decompose-order', () => {
  it('adds the finalizer, then creates one ArtifactWorkflow per artifact', async () => {
    const one = order('order', images);
    const api = new FakeApi([one, ...inputs]);
    await wake(api, one);
    expect(api.read(orders, one.metadata)?.metadata.finalizers).toEqual([finalizers.children]);
    expect(api.all(artifactWorkflows).length).toBe(3);
    expect(api.writes[0]).toMatchObject({ verb: 'patch', resource: 'orders' });
    expect(api.all(events).map(({ reason, message }) => `${reason}: ${message}`)).toEqual([
      'Created: created 3 ArtifactWorkflows',
    ]);
  });

  it('goes on when roll-up-order writes the first status meanwhile, and plans anew after any other change', async () => {
    for (const [change, outcome] of [
      [{ status: { phase: 'Pending', artifactWorkflows: {} } }, 'done'],
      [{ metadata: { annotations: { [annotations.forceAt]: '1' } } }, 'Conflict'],
      [{ spec: { suspend: true }, metadata: { generation: 7 } }, 'Conflict'],
    ] as const) {
      const one = order('order', images);
      const api = new FakeApi([one, ...inputs]);
      let isFirst = true;
      api.before = ({ verb, resource }) => {
        if (verb !== 'patch' || resource !== 'orders' || !isFirst) return;
        isFirst = false;
        const now = api.read(orders, one.metadata) ?? one;
        api.put({
          ...now,
          ...change,
          metadata: { ...now.metadata, ...('metadata' in change && change.metadata) },
        } as Order);
      };
      const ended = await wake(api, one).then(
        () => 'done',
        (caught: unknown) => ArcError.from(caught).code,
      );
      expect(ended).toBe(outcome);
      expect(api.all(artifactWorkflows)).toHaveLength(outcome === 'done' ? 3 : 0);
    }
  });

  it('says once why the artifacts of an Order run again, on the Order and on each ArtifactWorkflow', async () => {
    const one = order('order', images);
    const api = new FakeApi([one, ...inputs]);
    await wake(api, one);
    const destination = endpoint('destination', { tls: { plainHTTP: true } });
    api.put(destination);
    await wake(api, one);
    await wake(api, one);
    const again = api.all(events).filter(({ reason }) => reason === 'Rerun');
    expect(again).toMatchObject([
      { message: '3 artifacts run again: Endpoint "destination" changed', count: 1, type: 'Normal' },
    ]);
    const causes = api
      .all(artifactWorkflows)
      .map(({ metadata }) => metadata.annotations?.[annotations.cause]);
    expect(causes.filter((cause) => cause === 'Endpoint "destination" changed')).toHaveLength(3);
  });

  it('leaves out parameters of the type that come from Endpoints, and says so', async () => {
    const type = ociType();
    type.spec.parameters = [{ name: 'srcRemoteURL', value: 'https://evil.example.com' }];
    const one = order('order', ['team/app:1']);
    const api = new FakeApi([one, endpoint('source'), endpoint('destination'), ociTemplate(), type]);
    await wake(api, one);
    const [child] = api.all(artifactWorkflows);
    const urls = child?.spec.parameters?.filter(({ name }) => name === 'srcRemoteURL');
    expect(urls).toEqual([{ name: 'srcRemoteURL', value: endpoint('source').spec.remoteURL }]);
    expect(api.all(events).map(({ reason, message }) => `${reason}: ${message}`)).toContainEqual(
      expect.stringMatching(/^ParameterIgnored: .*sets srcRemoteURL, which comes from an Endpoint/),
    );
  });

  it('writes nothing the second time', async () => {
    const one = order('order', images);
    const api = new FakeApi([one, ...inputs]);
    await wake(api, one);
    const before = api.writes.length;
    await wake(api, one);
    expect(api.writes.length).toBe(before);
  });

  it('does nothing for an Order that does not exist', async () => {
    const api = new FakeApi();
    await wake(api, order('order', images));
    expect(api.writes).toEqual([]);
  });

  it('creates the valid ones beside an invalid one', async () => {
    const one = order('order', images, {
      artifacts: [{ type: 'unknown' }, ...images.map((image) => ({ type: 'oci', spec: { image } }))],
    });
    const api = new FakeApi([one, ...inputs]);
    await wake(api, one);
    expect(api.all(artifactWorkflows).length).toBe(3);
  });

  it('recreates a deleted child', async () => {
    const one = order('order', images);
    const api = new FakeApi([one, ...inputs]);
    await wake(api, one);
    const before = without(api.all(artifactWorkflows));
    const [gone] = api.all(artifactWorkflows);
    await api.client.mergePatch(artifactWorkflows, gone?.metadata ?? { name: '' }, {
      metadata: { finalizers: [] },
    });
    await api.client.delete(artifactWorkflows, gone?.metadata ?? { name: '' });
    expect(api.all(artifactWorkflows).length).toBe(2);
    await wake(api, one);
    expect(without(api.all(artifactWorkflows))).toEqual(before);
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
    await wake(api, one);
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
    await wake(api, one);
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
    await wake(api, one);
    expect(api.all(artifactWorkflows).length).toBe(3);
    const warning = api.all(events).find(({ type }) => type === 'Warning');
    expect(warning).toMatchObject({ reason: 'NameTaken' });
    expect(warning?.message).toContain(first.workflow.metadata.name);
  });

  it('records a Warning when a policy refuses a child, and creates the others', async () => {
    const one = order('order', images);
    const api = new FakeApi([one, ...inputs]);
    let creates = 0;
    api.before = ({ verb, resource }) => {
      if (verb !== 'create' || resource !== 'artifactworkflows') return;
      creates += 1;
      if (creates === 1) throw new ArcError('Forbidden', 'exceeded quota');
    };
    await wake(api, one);
    expect(api.all(artifactWorkflows).length).toBe(2);
    expect(api.all(events)[0]?.message).toContain('exceeded quota');
  });

  it('notes on the Order which child is refused, until it no longer is, and writes that once', async () => {
    const one = order('order', ['a:1']);
    const api = new FakeApi([one, ...inputs]);
    let tries = 0;
    const refuse = ({ verb, resource }: { verb: string; resource: string }) => {
      if (verb !== 'create' || resource !== 'artifactworkflows') return;
      tries += 1;
      throw new ArcError('RequestEntityTooLarge', `too large, try ${tries}`);
    };
    api.before = refuse;
    await wake(api, one);
    const noted = api.read(orders, one.metadata);
    expect(Object.values(noted ? refusalsOf(noted) : {})).toMatchObject([
      { reason: 'CreationFailed', message: expect.stringContaining('too large, try 1') },
    ]);
    const about = () => api.writes.filter(({ body }) => JSON.stringify(body).includes('/refused')).length;
    await wake(api, one);
    expect([tries, about()]).toEqual([2, 1]);
    api.before = () => undefined;
    await wake(api, one);
    expect(api.read(orders, one.metadata)?.metadata.annotations).toBeUndefined();
  });

  it('tries all children before it rejects with a transient error', async () => {
    const one = order('order', images);
    const api = new FakeApi([one, ...inputs]);
    let creates = 0;
    api.before = ({ verb, resource }) => {
      if (verb !== 'create' || resource !== 'artifactworkflows') return;
      creates += 1;
      if (creates === 1) throw new ArcError('ServiceUnavailable', 'etcd is electing');
    };
    await expect(wake(api, one)).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    expect(api.all(artifactWorkflows).length).toBe(2);
  });

  it('rejects with Conflict when the Order has changed', async () => {
    const one = order('order', images);
    const api = new FakeApi([one, ...inputs]);
    api.before = ({ verb, resource }) => {
      if (verb === 'patch' && resource === 'orders')
        api.put({ ...one, spec: { ...one.spec, suspend: true } });
    };
    await expect(wake(api, one)).rejects.toMatchObject({ code: 'Conflict' });
    expect(api.all(artifactWorkflows)).toEqual([]);
  });

  it('cancels its children with the Order, and takes that back with it', async () => {
    const one = order('order', images);
    const api = new FakeApi([one, ...inputs]);
    await wake(api, one);
    const held = api.read(orders, one.metadata) ?? one;
    const cancels = () => api.all(artifactWorkflows).map(({ spec }) => spec.cancel);
    api.put({ ...held, spec: { ...held.spec, cancel: true } });
    await wake(api, one);
    expect(cancels()).toEqual([true, true, true]);
    api.put(held);
    await wake(api, one);
    expect(cancels()).toEqual([undefined, undefined, undefined]);
    const before = api.writes.length;
    await wake(api, one);
    expect(api.writes.length).toBe(before);
  });

  it('records once who asked for an action', async () => {
    const one = order('order', images);
    const request = { action: 'force', user: 'jo', time: '2026-01-01T00:00:00Z' };
    const notes = { 'arc.opendefense.cloud/requested-by': JSON.stringify(request) };
    const api = new FakeApi([{ ...one, metadata: { ...one.metadata, annotations: notes } }, ...inputs]);
    await wake(api, one);
    await wake(api, one);
    const asked = api.all(events).filter(({ reason }) => reason === 'ForceRequested');
    expect(asked).toMatchObject([{ message: 'jo asked for everything to run again', count: 1 }]);
  });

  it('creates nothing for an Order that is cancelled, and deletes it', async () => {
    const one = order('order', images, { cancel: true });
    const api = new FakeApi([one, ...inputs]);
    await wake(api, one);
    expect(api.all(artifactWorkflows)).toEqual([]);
    await api.client.delete(orders, one.metadata);
    await wake(api, one);
    expect(api.read(orders, one.metadata)).toBeUndefined();
  });

  it('deletes the children that an edited Order no longer wants', async () => {
    const one = order('order', images);
    const api = new FakeApi([one, ...inputs]);
    await wake(api, one);
    const held = api.read(orders, one.metadata) ?? one;
    api.put({ ...held, spec: order('order', ['team/app:1']).spec });
    await wake(api, one);
    const going = api.all(artifactWorkflows).filter(({ metadata }) => metadata.deletionTimestamp);
    expect(going.length).toBe(2);
  });

  it('marks what had finished as superseded, once, and says so', async () => {
    const plain = order('order', []);
    const version = (tag: string) => ({ name: 'app', type: 'oci', spec: { image: `team/app:${tag}` } });
    const one = { ...plain, spec: { ...plain.spec, artifacts: [version('1')] } };
    const api = new FakeApi([one, ...inputs]);
    await wake(api, one);
    const [first] = api.all(artifactWorkflows);
    if (!first) throw new Error('none made');
    const status = { phase: 'Succeeded', completionTime: '2026-01-01T00:01:00Z' } as const;
    api.put({ ...first, metadata: { ...first.metadata, finalizers: [] }, status });
    const held = api.read(orders, one.metadata) ?? one;
    api.put({ ...held, spec: { ...held.spec, artifacts: [version('2')] } });
    await wake(api, one);
    await wake(api, one);
    const [before, after] = api.all(artifactWorkflows);
    expect(before?.metadata.labels).toHaveProperty([labels.superseded], 'true');
    expect(after?.metadata.labels).not.toHaveProperty([labels.superseded]);
    expect(api.all(events).filter(({ reason }) => reason === 'Superseded')).toMatchObject([
      {
        count: 1,
        message: 'revision 2 of its artifact is in force',
        involvedObject: { name: first.metadata.name },
      },
    ]);
  });

  it('does not touch an object with its label that it does not own', async () => {
    const one = order('order', []);
    const foreign: ArtifactWorkflow = {
      apiVersion: one.apiVersion,
      kind: 'ArtifactWorkflow',
      metadata: { name: 'mine', namespace, labels: { 'arc.opendefense.cloud/order': 'uid-order' } },
      spec: { workflowTemplateRef: { name: 't' } },
    };
    const api = new FakeApi([one, foreign, ...inputs]);
    await wake(api, one);
    expect(api.read(artifactWorkflows, foreign.metadata)?.metadata.deletionTimestamp).toBeUndefined();
  });

  it('does not run a child again that finished and was removed after it read the Order', async () => {
    const one = order('order', ['team/app:1']);
    const api = new FakeApi([one, ...inputs]);
    await wake(api, one);
    const [child] = api.all(artifactWorkflows);
    const held = api.read(orders, one.metadata) ?? one;
    const entry = { artifactIndex: 0, phase: 'Succeeded', completionTime: '2026-01-01T00:01:00Z' };
    api.before = ({ verb, resource }) => {
      if (verb !== 'list' || resource !== 'artifactworkflows' || !child) return;
      api.put({ ...held, status: { artifactWorkflows: { [child.metadata.name.slice(-16)]: entry } } });
      api.remove(artifactWorkflows, child.metadata);
    };
    await wake(api, one);
    expect(api.all(artifactWorkflows)).toEqual([]);
  });

  it('leaves the version alone that another delivery makes of a later edit meanwhile', async () => {
    const artifacts = (image: string) => [{ type: 'oci', spec: { image, override: 'mirror/app:stable' } }];
    const one = order('order', [], { artifacts: artifacts('team/app:1') });
    const api = new FakeApi([one, ...inputs]);
    await wake(api, one);
    const held = api.read(orders, one.metadata) ?? one;
    const edited = { ...held, spec: { ...held.spec, artifacts: artifacts('team/app:2') } };
    const [later] = planOrder(edited, { endpoints: known, types: [ociType()] }).artifacts;
    if (later?.state !== 'ready') throw new Error('the plan is not as the test needs it');
    api.before = ({ verb, resource }) => {
      if (verb !== 'list' || resource !== 'artifactworkflows') return;
      api.put(edited);
      for (const { metadata } of api.all(artifactWorkflows)) api.remove(artifactWorkflows, metadata);
      api.put({ ...later.workflow, spec: { ...later.workflow.spec, revision: 2 } });
    };
    await wake(api, one);
    const left = api
      .all(artifactWorkflows)
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    expect(left.map(({ metadata }) => metadata.name)).toEqual([later.workflow.metadata.name]);
  });

  it('creates nothing for an Order that is deleted meanwhile', async () => {
    const one = order('order', images);
    const api = new FakeApi([one, ...inputs]);
    api.before = ({ verb, resource }) => {
      if (verb === 'list' && resource === 'artifactworkflows') api.remove(orders, one.metadata);
    };
    await wake(api, one);
    expect(api.writes).toEqual([]);
  });

  it('removes the finalizer only when the children are gone', async () => {
    const one = order('order', images);
    const api = new FakeApi([one, ...inputs]);
    await wake(api, one);
    await api.client.delete(orders, one.metadata);
    await wake(api, one);
    expect(api.read(orders, one.metadata)).toBeDefined();
    for (const { metadata } of api.all(artifactWorkflows)) {
      expect(metadata.deletionTimestamp).toBeDefined();
      await api.client.mergePatch(artifactWorkflows, metadata, { metadata: { finalizers: [] } });
    }
    await wake(api, one);
    expect(api.read(orders, one.metadata)).toBeUndefined();
  });
});
