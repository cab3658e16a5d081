import { describe, expect, it } from 'vitest';
import { secrets } from '#shared/domain';
import type { KubeObject } from '#shared/meta';
import { Conduit } from './model/conduit.ts';
import { credentials, objects } from './model/operations.ts';
import { faultsOf } from './model/oracle.ts';

const right = { api: 0, argo: 0, bridge: 0, functions: [0] };
const failures = ({ events }: Conduit) => events.filter(({ type }) => type.endsWith('.order.failed.v1'));

/** The conduit after `ms`, with an Order that waits for a Secret all the while. */
async function waiting(ms: number, prepare: (conduit: Conduit) => void = () => undefined): Promise<Conduit> {
  const isSecret = ({ kind }: KubeObject) => kind === 'Secret';
  const conduit = new Conduit(
    right,
    objects.filter((object) => !isSecret(object)),
  );
  await conduit.settle(1);
  prepare(conduit);
  await conduit.settle(ms);
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

  it('a Secret that nobody brings fails it', async () => {
    expect(failures(await waiting(15_000)).length).toBe(1);
  });
});
