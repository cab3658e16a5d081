import { describe, expect, it } from 'vitest';
import { annotations, orders, secrets } from '#shared/domain';
import { namespace } from '../../shared/domain/testing/objects.ts';
import { Conduit } from './model/conduit.ts';
import { credentials, objects } from './model/operations.ts';
import { faultsOf } from './model/oracle.ts';

const right = { api: 0, argo: 0, bridge: 0, functions: [0] };
/** The ids of the events; each may come more than once. */
const failures = ({ events }: Conduit) => [
  ...new Set(events.filter(({ type }) => type.endsWith('.order.failed.v1')).map(({ id }) => id)),
];

/** The conduit after so long, with an Order that waits for a Secret all the while. */
async function waiting(ms: number): Promise<Conduit> {
  const others = objects.filter(({ kind }) => kind !== 'Secret');
  const conduit = new Conduit(right, others);
  await conduit.last(ms);
  return conduit;
}

// Each was found by a random story, and is told here so that it survives every change of what stories are made of.
describe('cases that stories have found', () => {
  it('a Secret that comes within ten seconds of its Endpoint fails no Order', async () => {
    const conduit = await waiting(7_000);
    await conduit.client.create(secrets, credentials);
    await conduit.settle();
    expect([failures(conduit), faultsOf(conduit)]).toEqual([[], []]);
  });

  it('nor does one whose first look is lost', async () => {
    const conduit = await waiting(2_000);
    await conduit.client.create(secrets, credentials);
    conduit.lose(1);
    await conduit.settle();
    expect([failures(conduit), faultsOf(conduit)]).toEqual([[], []]);
  });

  it('nor does a policy that refuses its Workflows for seven', async () => {
    const conduit = new Conduit(right, objects);
    conduit.refuses = true;
    await conduit.last(7_000);
    conduit.refuses = false;
    await conduit.settle();
    expect([failures(conduit), faultsOf(conduit)]).toEqual([[], []]);
  });

  it('a type that comes back runs its Orders, though its first twenty events are lost', async () => {
    const isType = ({ kind }: { kind: string }) => kind === 'ClusterArtifactType';
    const conduit = new Conduit(
      right,
      objects.filter((one) => !isType(one)),
    );
    conduit.note(false);
    await conduit.last(60_000);
    conduit.note(true);
    for (const type of objects.filter(isType)) conduit.kube.put(type);
    conduit.lose(2 ** 20 - 1);
    await conduit.settle();
    expect(faultsOf(conduit)).toEqual([]);
  });

  it.each([[0], [undefined]])(
    'a retry is answered once, though the clock of Argo is behind (time to live: %s)',
    async (ttl) => {
      const conduit = new Conduit({ ...right, argo: -300_000 }, objects);
      const spec = { retry: { limit: 0 }, ...(ttl === undefined ? {} : { ttlSecondsAfterCompletion: ttl }) };
      const key = { namespace, name: 'order' };
      await conduit.client.mergePatch(orders, key, { spec });
      conduit.argo.failures.set('team/app:1', 99);
      await conduit.settle();
      const before = conduit.argo.failed;
      const asked = { [annotations.retryAt]: String(conduit.apiSeconds) };
      await conduit.client.mergePatch(orders, key, { metadata: { annotations: asked } });
      await conduit.settle();
      expect([conduit.argo.failed - before, conduit.bridge.due]).toEqual([1, 0]);
    },
  );

  it('a Secret that nobody brings does', async () => {
    expect(failures(await waiting(15_000)).length).toBe(1);
  });
});
