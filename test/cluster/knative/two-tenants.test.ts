import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostileObjects } from '../../fixtures/hostile/users.ts';
import { type HttpsClient, httpsClient } from '../../fixtures/http/https-client.ts';
import { install, uninstall } from './conduit.ts';
import type { Registries } from './images.ts';
import { apply, kubectl } from './kubectl.ts';
import { type Greed, takeEverything } from './mixed/greedy.ts';
import { ended, patiently } from './mixed/honest.ts';
import { aggregator, tokenOf } from './mixed/load.ts';
import { objects, openToWorkers, orderOf, prepareTeam, removeTeam } from './team.ts';

const minutes = 60_000;
/** How long; an hour in `npm run soak`, and not in the suite. */
const seconds = Number(process.env.ARC_SOAK_SECONDS ?? 0);
const installation = { overlay: objects('mixed-load'), volumes: ['arc-etcd-0'] };
const greedy = ['greedy-0', 'greedy-1'];
const path = '/apis/arc.opendefense.cloud/v1alpha1/namespaces/team/orders';

/** The operator bounds each greedy namespace as docs/operate/tenants.md says: Workflows at a time by Argo's label, pods by a ResourceQuota. */
describe.skipIf(seconds === 0)('an honest tenant beside two greedy ones', () => {
  let registries: Registries;
  let honest: HttpsClient;
  const takers: { namespace: string; api: HttpsClient }[] = [];

  beforeAll(async () => {
    await kubectl('delete', 'namespace', ...greedy, '--ignore-not-found');
    await removeTeam();
    await install(installation);
    registries = await prepareTeam();
    await registries.seed('mixed/app', '1.0');
    const { url, ca } = await aggregator();
    const as = async (namespace: string, account: string) =>
      httpsClient(url, { ca }, { authorization: `Bearer ${await tokenOf(namespace, account)}` });
    honest = await as('team', 'jo');
    for (const namespace of greedy) {
      await giveToArc(namespace);
      takers.push({ namespace, api: await as(namespace, 'hostile') });
    }
  }, 10 * minutes);

  afterAll(async () => {
    for (const { api } of [{ api: honest }, ...takers]) api?.close();
    // While ARC is there: its objects would be left in its etcd, and the next installation would work on them.
    await kubectl('delete', 'namespace', ...greedy, '--ignore-not-found', '--timeout=10m');
    await removeTeam();
    await uninstall(installation);
  }, 15 * minutes);

  it('waits for its Orders at most twice as long as alone', {
    timeout: seconds * 1200 + 20 * minutes,
  }, async () => {
    await timeOrders(honest, 'warm', AbortSignal.timeout(30_000));
    const alone = await timeOrders(honest, 'alone', AbortSignal.timeout(seconds * 100));
    const end = AbortSignal.timeout(seconds * 1000);
    const taking = Promise.all(takers.map(({ api, namespace }) => takeEverything(api, namespace, end)));
    await sleep(10_000); // the backlogs are there
    const beside = await timeOrders(honest, 'beside', end);
    const greed: Greed[] = await taking;
    const summary = { alone: spread(alone), beside: spread(beside), greed, loadAverage: loadavg()[0] };
    console.log(JSON.stringify(summary));
    expect(summary.beside.median).toBeLessThanOrEqual(2 * summary.alone.median);
  });
});

async function giveToArc(namespace: string): Promise<void> {
  for (const object of hostileObjects(namespace)) await apply(object);
  await kubectl('label', 'namespace', namespace, 'workflows.argoproj.io/parallelism-limit=2');
  await kubectl('apply', '-n', namespace, '-k', 'knative/tenant');
  await openToWorkers(namespace);
  const registry = (name: string, usage: string, rest: object) => ({
    apiVersion: 'arc.opendefense.cloud/v1alpha1',
    kind: 'Endpoint',
    metadata: { name, namespace },
    spec: { type: 'oci', usage, tls: { plainHTTP: true }, ...rest },
  });
  const login = { username: 'reader', password: 'moves-images' };
  await apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'login', namespace },
    stringData: login,
  });
  await apply(
    registry('source', 'PullOnly', {
      remoteURL: 'http://source.registries.svc:5000',
      secretRef: { name: 'login' },
    }),
  );
  await apply(registry('destination', 'PushOnly', { remoteURL: 'http://destination.registries.svc:5000' }));
  await apply({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'pods', namespace },
    spec: { hard: { pods: '10' } },
  });
}

/**
 * Orders one image after the other, each followed to its end and deleted, until `signal` ends it; the last one is followed too.
 * @returns seconds from the request to the end of each; rejects when one does not succeed
 */
async function timeOrders(api: HttpsClient, prefix: string, signal: AbortSignal): Promise<number[]> {
  const seconds: number[] = [];
  for (let at = 0; !signal.aborted; at += 1) {
    const name = `${prefix}-${at}`;
    const artifact = { type: 'oci', spec: { image: 'mixed/app:1.0', override: `${name}/app:1.0` } };
    const begun = performance.now();
    await patiently(api, 'POST', path, orderOf(name, [artifact]));
    const { status } = await ended(api, name);
    expect(status?.phase, JSON.stringify(status)).toBe('Succeeded');
    seconds.push((performance.now() - begun) / 1000);
    await patiently(api, 'DELETE', `${path}/${name}`);
    if (at % 20 === 0) console.log(`${name} took ${seconds.at(-1)?.toFixed(1)} s`);
    await sleep(5_000, undefined, { signal }).catch(() => undefined);
  }
  return seconds;
}

function spread(times: readonly number[]): Record<'orders' | 'median' | 'p90' | 'longest', number> {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => Number((sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1));
  return { orders: sorted.length, median: at(0.5), p90: at(0.9), longest: at(1) };
}
