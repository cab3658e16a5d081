import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { serve } from '@hono/node-server';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createLogger } from '#shared/base/telemetry';
import { createApiServer, type KindDefinition } from '#shared/kubernetes/apiserver';
import { createKubeClient, type Kind, type KubeClient } from '#shared/kubernetes/client';
import { openEmbeddedStore } from '#shared/kubernetes/storage';
import { eventually } from '../../../shared/base/testing/eventually.ts';
import { startArcServer } from '../testing/arc-server.ts';
import { followClusterQuotas, type ResourceQuota } from './cluster-quotas.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const resourceQuota: KindDefinition = {
  group: '',
  version: 'v1',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  singular: 'resourcequota',
  scope: 'Namespaced',
  description: 'For tests.',
  status: false,
  columns: [],
  schema: z.object({ spec: z.looseObject({}).optional() }),
};
const quotas: Kind<ResourceQuota> = {
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  namespaced: true,
};

/** A cluster with ResourceQuotas, on our own generic server. `may`: whether they may be read. */
async function startCluster(may: () => boolean = () => true, kinds = [resourceQuota]): Promise<KubeClient> {
  const folder = await mkdtemp(path.join(tmpdir(), 'arc-cluster-'));
  closers.push(() => rm(folder, { recursive: true, force: true }));
  const store = await openEmbeddedStore({ folder });
  closers.push(() => store.close());
  const api = createApiServer({
    kinds,
    store,
    authenticate: async () => ({ name: 'test', groups: [] }),
    authorize: async (_user, { verb }) => ({ allowed: may() || verb === 'create' }),
  });
  const url = await new Promise<string>((resolve) => {
    const server = serve({ fetch: api.app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
      resolve(`http://127.0.0.1:${port}`),
    );
    closers.push(() => server.close());
  });
  closers.push(() => api.close());
  return createKubeClient({ server: url, token: () => 'test', userAgent: 'test' });
}

function follow(client: KubeClient) {
  const control = new AbortController();
  closers.push(() => control.abort());
  return followClusterQuotas({
    client,
    log: createLogger({ name: 'test', level: 'silent' }),
    signal: control.signal,
  });
}

const orders = 'count/orders.arc.opendefense.cloud';
const quota = (name: string, spec: ResourceQuota['spec'], namespace = 'team'): ResourceQuota => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name, namespace },
  ...(spec && { spec }),
});

describe('followClusterQuotas', () => {
  it('gives the limits of ResourceQuotas for our kinds, by namespace, as they change', async () => {
    const client = await startCluster();
    await client.create(quotas, quota('small', { hard: { [orders]: '3', pods: '1' } }));
    await client.create(quotas, quota('large', { hard: { [orders]: '10k' } }));
    await client.create(quotas, quota('elsewhere', { hard: { [orders]: '0' } }, 'other'));
    await client.create(quotas, quota('scoped', { hard: { [orders]: '0' }, scopes: ['NotTerminating'] }));
    await client.create(quotas, quota('pods', { hard: { pods: '0', 'count/jobs.batch': '0' } }));
    const followed = follow(client);
    expect(() => followed.limitsOf('team', 'orders')).toThrow('not read yet: ResourceQuotas');
    await eventually('the quotas to be read', 10_000, () => followed.check());
    const found = () =>
      followed
        .limitsOf('team', 'orders')
        .map((limit) => [limit.quota, limit.hard])
        .sort();
    expect(found()).toEqual([
      ['large', 10_000],
      ['small', 3],
    ]);
    expect(followed.limitsOf('team', 'endpoints')).toEqual([]);
    expect(followed.limitsOf('nowhere', 'orders')).toEqual([]);

    await client.mergePatch(
      quotas,
      { name: 'small', namespace: 'team' },
      { spec: { hard: { [orders]: '4' } } },
    );
    await eventually('the change to count', 10_000, () => expect(found()).toContainEqual(['small', 4]));
    await client.mergePatch(
      quotas,
      { name: 'small', namespace: 'team' },
      { spec: { hard: { [orders]: null } } },
    );
    await client.delete(quotas, { name: 'large', namespace: 'team' });
    await eventually('the end of both', 10_000, () => expect(found()).toEqual([]));
    await client.mergePatch(
      quotas,
      { name: 'small', namespace: 'team' },
      { spec: { hard: { [orders]: '5' } } },
    );
    await eventually('the limit that is back', 10_000, () => expect(found()).toEqual([['small', 5]]));
  });

  it('says so when it may not read them, and goes on without', async () => {
    let may = false;
    const client = await startCluster(() => may);
    await client.create(quotas, quota('small', { hard: { [orders]: '3' } }));
    const followed = follow(client);
    await eventually('the refusal', 10_000, () => followed.check());
    expect(followed.notices()).toEqual([
      'no right to list resourcequotas: they are not applied to our kinds',
    ]);
    expect(followed.limitsOf('team', 'orders')).toEqual([]);
    may = true;
    await eventually('the right to count', 10_000, () =>
      expect(followed.limitsOf('team', 'orders')).toHaveLength(1),
    );
    expect(followed.notices()).toEqual([]);
  });

  it('goes on in a cluster that has none', async () => {
    const followed = follow(await startCluster(() => true, []));
    await eventually('the absence to be known', 10_000, () => followed.check());
    expect(followed.notices()).toEqual([]);
  });

  it('are held by the API server, beside its own limits and whatever status.used says', async () => {
    const client = await startCluster();
    await client.create(quotas, {
      ...quota('small', { hard: { [orders]: '2' } }),
      status: { used: { [orders]: '0' } },
    });
    const clusterQuotas = follow(client);
    const server = await startArcServer({ clusterQuotas });
    closers.push(() => server.close());
    await eventually('the quotas to be read', 10_000, () => clusterQuotas.check());
    const create = (name: string, namespace = 'team') => {
      const apiVersion = 'arc.opendefense.cloud/v1alpha1';
      const sides = { srcRef: { name: 'a' }, dstRef: { name: 'b' } };
      return server.call('POST', `/apis/${apiVersion}/namespaces/${namespace}/orders`, {
        apiVersion,
        kind: 'Order',
        metadata: { name },
        spec: { defaults: sides },
      });
    };
    const found = await Promise.all(Array.from({ length: 10 }, (_, index) => create(`order-${index}`)));
    expect(found.filter(({ status }) => status === 201)).toHaveLength(2);
    expect(found.find(({ status }) => status === 403)?.body.message).toMatch(
      /is forbidden: exceeded quota: small, requested: count\/orders\.arc\.opendefense\.cloud=1, used: \S+=2, limited: \S+=2$/,
    );
    expect((await create('free', 'other')).status).toBe(201);
  });
});
