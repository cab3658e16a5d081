import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { conduitNamespace, parseSettings } from '#shared/domain';
import { type ArcServer, startArcServer } from '../testing/arc-server.ts';

const collection = '/apis/arc.opendefense.cloud/v1alpha1/namespaces';
const apiVersion = 'arc.opendefense.cloud/v1alpha1';
const began = Date.parse('2026-01-02T03:00:00Z');

let server: ArcServer;
let clock = began;
let data: Record<string, string> = {};
let groups: string[] = [];
beforeAll(async () => {
  server = await startArcServer({
    settings: () => parseSettings(data).settings,
    now: () => new Date(clock),
    authenticate: async () => ({ name: 'jo', groups }),
  });
});
afterAll(() => server.close());
beforeEach(() => {
  // Ten at once, then one every minute.
  data = { 'limits.rerunsPerMinute': '1' };
  clock += 3_600_000;
  groups = [];
});

const call = (method: string, at: string, body?: object) => server.call(method, `${collection}/${at}`, body);
const annotated = (name: string) => ({
  metadata: { annotations: { [`arc.opendefense.cloud/${name}`]: String(Math.floor(clock / 1000)) } },
});

async function order(at: string, size: number): Promise<void> {
  const [namespace, name] = at.split('/orders/');
  const artifacts = Array.from({ length: size }, (_, index) => ({
    type: 'oci',
    spec: { image: `a:${index}` },
  }));
  const spec = { defaults: { srcRef: { name: 'a' }, dstRef: { name: 'b' } }, artifacts };
  const created = await call('POST', `${namespace}/orders`, {
    apiVersion,
    kind: 'Order',
    metadata: { name },
    spec,
  });
  expect(created.status).toBe(201);
}

/** Statuses of a force at each of so many seconds. */
async function forced(at: string, times: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let second = 0; second < times; second += 1) {
    clock += 1_000;
    statuses.push((await call('PATCH', at, annotated('force-at'))).status);
  }
  return statuses;
}

describe('the limit of reruns', () => {
  it('ends a force every second with a Status that says when to ask again, in one namespace only', async () => {
    await order('greedy/orders/many', 4);
    await order('honest/orders/one', 1);
    expect(await forced('greedy/orders/many', 4)).toEqual([200, 200, 200, 429]);
    const { status, body } = await call('PATCH', 'greedy/orders/many', annotated('retry-at'));
    expect(status).toBe(429);
    expect(body).toMatchObject({
      reason: 'TooManyRequests',
      message:
        'Order "many" is not run again now: namespace "greedy" has used up limits.rerunsPerMinute of the operator\'s settings, 1; ' +
        'try again in 177 s',
      details: { name: 'many', kind: 'orders', retryAfterSeconds: 177 },
    });
    expect(await forced('honest/orders/one', 5)).toEqual([200, 200, 200, 200, 200]);
    clock += 177_000;
    expect((await call('PATCH', 'greedy/orders/many', annotated('force-at'))).status).toBe(200);
  });

  it('counts the subresources, but no request that asks for nothing new, nor a dry run', async () => {
    await order('verbs/orders/many', 12);
    const force = (query = '') => call('POST', `verbs/orders/many/force${query}`);
    expect((await force('?dryRun=All')).status).toBe(201);
    expect((await force()).status).toBe(201);
    // Asked for, and not yet answered.
    expect((await force()).status).toBe(201);
    expect((await call('POST', 'verbs/orders/many/retry')).status).toBe(429);
    expect((await call('POST', 'verbs/orders/many/cancel')).status).toBe(201);
    expect((await call('PATCH', 'verbs/orders/many', { metadata: { labels: { a: 'b' } } })).status).toBe(200);
  });

  it('counts what a retry runs again: not what has succeeded', async () => {
    await order('retried/orders/many', 12);
    const counts = { total: 12, invalid: 0, pending: 0, running: 0, succeeded: 11, failed: 1, cancelled: 0 };
    expect((await call('PATCH', 'retried/orders/many/status', { status: { counts } })).status).toBe(200);
    const statuses: number[] = [];
    for (let second = 0; second < 11; second += 1) {
      clock += 1_000;
      statuses.push((await call('PATCH', 'retried/orders/many', annotated('retry-at'))).status);
    }
    expect(statuses).toEqual([...Array(10).fill(200), 429]);
  });

  it('lets ARC pass a retry on to ArtifactWorkflows, and counts one that somebody else makes', async () => {
    const spec = { workflowTemplateRef: { name: 't' } };
    await call('POST', 'passed/artifactworkflows', {
      apiVersion,
      kind: 'ArtifactWorkflow',
      metadata: { name: 'one' },
      spec,
    });
    const retry = async () => {
      clock += 1_000;
      return (await call('PATCH', 'passed/artifactworkflows/one', annotated('retry-at'))).status;
    };
    groups = [`system:serviceaccounts:${conduitNamespace}`];
    for (let times = 0; times < 12; times += 1) expect(await retry()).toBe(200);
    groups = [];
    for (let times = 0; times < 10; times += 1) expect(await retry()).toBe(200);
    expect(await retry()).toBe(429);
  });

  it('is met by nobody who forces an Order of thousands of artifacts twice', async () => {
    data = {};
    await order('honest/orders/large', 4_000);
    expect(await forced('honest/orders/large', 2)).toEqual([200, 200]);
  });
});
