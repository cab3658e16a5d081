import { access, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDelivery } from '../../functions/watch-bridge/delivery/delivery.ts';
import type { Sink } from '../../functions/watch-bridge/delivery/sink.ts';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { type AggregatedServer, startAggregated } from '../fixtures/cluster/aggregated-server.ts';
import { prepareBridge, startBridge } from '../fixtures/cluster/bridge-process.ts';
import { type ControlPlane, hostAddress, startControlPlane } from '../fixtures/cluster/control-plane.ts';
import { type GuardedBroker, startGuardedBroker } from '../fixtures/knative/guarded-broker.ts';

const assets = process.env.KUBEBUILDER_ASSETS ?? '';
const host = hostAddress() ?? '';
const [found] = await Promise.allSettled([access(path.join(assets, 'broker-ingress'))]);
const isThere = assets !== '' && host !== '' && found.status === 'fulfilled';
if (process.env.CI && !isThere)
  throw new Error('build broker-ingress of knative.dev/eventing into KUBEBUILDER_ASSETS');
if (!isThere) console.warn("no broker-ingress in KUBEBUILDER_ASSETS: Knative's guarded broker is left out");

/** knative/components/oidc and tls: the way in, on Knative's own ingress, with tokens of a real kube-apiserver. */
describe.skipIf(!isThere)("Knative's broker with authentication-oidc and strict transport-encryption", () => {
  let plane: ControlPlane;
  let broker: GuardedBroker;
  let ours: AggregatedServer | undefined;
  const { signal } = new AbortController();

  beforeAll(async () => {
    plane = await startControlPlane(assets, host);
    await plane.kubectl(['create', 'namespace', 'arc-system']);
    await prepareBridge(plane);
    await plane.kubectl(['apply', '-f', 'knative/base/sync-status/serviceaccount.yaml']);
    broker = await startGuardedBroker(assets, plane);
  }, 180_000);
  afterAll(async () => {
    await ours?.stop();
    await broker?.stop();
    await plane?.stop();
  }, 60_000);

  async function tokenOf(account: string, audience?: string): Promise<string> {
    const more = audience === undefined ? [] : [`--audience=${audience}`];
    return (await plane.kubectl(['create', 'token', account, '-n', 'arc-system', ...more])).stdout.trim();
  }

  function send(name: string, how: Partial<Sink>) {
    const sink = { url: broker.url, authorities: async () => broker.authority, ...how };
    const attributes = { specversion: '1.0', id: name, source: '/test', type: 'test', kind: 'Test', name };
    const headers = Object.entries({ ...attributes, reason: 'test' }).map(([key, value]) => [
      `ce-${key}`,
      value,
    ]);
    return createDelivery(sink, signal)({ headers: Object.fromEntries(headers), body: '' });
  }

  it('takes the token of the bridge for its audience', async () => {
    const token = await tokenOf('watch-bridge', broker.audience);
    await eventually('the ingress to know the Broker and who vouches for tokens', 60_000, async () => {
      expect(await send('good', { token: async () => token })).toEqual({ result: 'delivered' });
    });
    expect(broker.taken).toContain('Test good test');
  }, 90_000);

  it('refuses requests without a token, with a token for another audience, and with a token of another account', async () => {
    const forApi = await tokenOf('watch-bridge');
    const forOther = await tokenOf('watch-bridge', 'eventing.knative.dev/broker/arc-system/other');
    const ofOther = await tokenOf('sync-status', broker.audience);
    const answered = (status: number) => ({ result: 'transient', reason: `the broker answered ${status}` });
    expect(await send('none', {})).toEqual(answered(401));
    for (const token of [forApi, forOther])
      expect(await send('audience', { token: async () => token })).toEqual(answered(401));
    expect(await send('account', { token: async () => ofOther })).toEqual(answered(403));
    expect(broker.taken.filter((one) => /none|audience|account/.test(one))).toEqual([]);
  });

  it('is not sent to unless its certificate is vouched for, nor takes anything without TLS', async () => {
    const token = await tokenOf('watch-bridge', broker.audience);
    const strange = await send('strange', { token: async () => token, authorities: async () => '' });
    expect(strange).toMatchObject({ result: 'transient', reason: expect.stringContaining('certificate') });
    const plain = await send('plain', { token: async () => token, url: broker.plainUrl });
    expect(plain).toEqual({ result: 'transient', reason: 'the broker answered 404' });
    expect(broker.taken.filter((one) => /strange|plain/.test(one))).toEqual([]);
  });

  it('gets the events of watch-bridge as components/oidc and tls run it', async () => {
    ours = await startAggregated(plane, host, { store: 'embedded' });
    const sinkToken = path.join(plane.folder, 'sink');
    await writeFile(sinkToken, await tokenOf('watch-bridge', broker.audience), { mode: 0o600 });
    const bridge = startBridge(plane, broker.url.href, {
      K_CA_CERTS: broker.authority,
      ARC_SINK_TOKEN_FILE: sinkToken,
    });
    try {
      const metadata = { name: 'guarded', namespace: 'default' };
      const order = { apiVersion: 'arc.opendefense.cloud/v1alpha1', kind: 'Order', metadata, spec: {} };
      await plane.kubectl(['create', '-f', '-'], { input: JSON.stringify(order) });
      await eventually('the event of the Order to arrive', 60_000, () => {
        bridge.mustRun();
        const arrived = broker.taken.some((one) => one.startsWith('Order guarded '));
        if (!arrived) throw new Error(bridge.output.stdout);
      });
    } finally {
      await bridge.stop();
    }
  }, 120_000);
});
