import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { annotations, artifactWorkflows, events, finalizers, type Order, orders } from '#shared/domain';
import { endpoint, namespace, ociTemplate, ociType, order } from '../../shared/domain/testing/objects.ts';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { decompose, images, inputs } from './testing/decompose.ts';

describe('decompose-order', () => {
  it('adds the finalizer, then creates one ArtifactWorkflow per artifact', async () => {
    const one = order('order', images);
    const api = new FakeApi([one, ...inputs]);
    await decompose(api, one);
    expect(api.read(orders, one.metadata)?.metadata.finalizers).toEqual([finalizers.children]);
    expect(api.all(artifactWorkflows).length).toBe(3);
    expect(api.writes[0]).toMatchObject({ verb: 'patch', resource: 'orders' });
    // roll-up-order tells how many there are.
    expect(api.all(events)).toEqual([]);
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
      const ended = await decompose(api, one).then(
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
    await decompose(api, one);
    const destination = endpoint('destination', { tls: { plainHTTP: true } });
    api.put(destination);
    await decompose(api, one);
    await decompose(api, one);
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
    await decompose(api, one);
    const [child] = api.all(artifactWorkflows);
    const urls = child?.spec.parameters?.filter(({ name }) => name === 'srcRemoteURL');
    expect(urls).toEqual([{ name: 'srcRemoteURL', value: endpoint('source').spec.remoteURL }]);
    expect(api.all(events).map(({ reason, message }) => `${reason}: ${message}`)).toContainEqual(
      expect.stringMatching(/^ParameterIgnored: .*sets srcRemoteURL, which comes from an Endpoint/),
    );
  });

  it('uses no Endpoint and no type of another namespace', async () => {
    const one = order('order', images);
    const type = { ...ociType(), kind: 'ArtifactType' };
    const named = [endpoint('source'), endpoint('destination'), type];
    const within = (namespace: string) =>
      named.map((object) => ({ ...object, metadata: { ...object.metadata, namespace } }));
    const api = new FakeApi([one, ociTemplate(), ...within('other')]);
    await decompose(api, one);
    expect(api.all(artifactWorkflows)).toEqual([]);
    for (const object of within(namespace)) {
      expect(api.all(artifactWorkflows)).toEqual([]);
      api.put(object);
      await decompose(api, one);
    }
    expect(api.all(artifactWorkflows)).toHaveLength(images.length);
  });

  it('writes nothing the second time', async () => {
    const one = order('order', images);
    const api = new FakeApi([one, ...inputs]);
    await decompose(api, one);
    const before = api.writes.length;
    await decompose(api, one);
    expect(api.writes.length).toBe(before);
  });

  it('does nothing for an Order that does not exist', async () => {
    const api = new FakeApi();
    await decompose(api, order('order', images));
    expect(api.writes).toEqual([]);
  });

  it('creates the valid ones beside an invalid one', async () => {
    const one = order('order', images, {
      artifacts: [{ type: 'unknown' }, ...images.map((image) => ({ type: 'oci', spec: { image } }))],
    });
    const api = new FakeApi([one, ...inputs]);
    await decompose(api, one);
    expect(api.all(artifactWorkflows).length).toBe(3);
  });

  it('rejects with Conflict when the Order has changed', async () => {
    const one = order('order', images);
    const api = new FakeApi([one, ...inputs]);
    api.before = ({ verb, resource }) => {
      if (verb === 'patch' && resource === 'orders')
        api.put({ ...one, spec: { ...one.spec, suspend: true } });
    };
    await expect(decompose(api, one)).rejects.toMatchObject({ code: 'Conflict' });
    expect(api.all(artifactWorkflows)).toEqual([]);
  });

  it('records once who asked for an action', async () => {
    const one = order('order', images);
    const request = { action: 'force', user: 'jo', time: '2026-01-01T23:59:00Z' };
    const notes = { 'arc.opendefense.cloud/requested-by': JSON.stringify(request) };
    const api = new FakeApi([{ ...one, metadata: { ...one.metadata, annotations: notes } }, ...inputs]);
    await decompose(api, one);
    await decompose(api, one);
    const asked = api.all(events).filter(({ reason }) => reason === 'ForceRequested');
    expect(asked).toMatchObject([{ message: 'jo asked for everything to run again', count: 1 }]);
  });

  it('removes the finalizer only when the children are gone', async () => {
    const one = order('order', images);
    const api = new FakeApi([one, ...inputs]);
    await decompose(api, one);
    await api.client.delete(orders, one.metadata);
    await decompose(api, one);
    expect(api.read(orders, one.metadata)).toBeDefined();
    for (const { metadata } of api.all(artifactWorkflows)) {
      expect(metadata.deletionTimestamp).toBeDefined();
      await api.client.mergePatch(artifactWorkflows, metadata, { metadata: { finalizers: [] } });
    }
    await decompose(api, one);
    expect(api.read(orders, one.metadata)).toBeUndefined();
  });
});
