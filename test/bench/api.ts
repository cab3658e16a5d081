import { once } from 'node:events';
import https from 'node:https';
import { namespaces, orders } from '#shared/domain';
import { median, progress, report } from './report.ts';
import { type MeasuredStandalone, startMeasured } from './standalone-process.ts';

const objects = 5000;
const parallel = 16;
const rounds = 5;
const watchers = 200;
const updates = 100;
const path = '/apis/arc.opendefense.cloud/v1alpha1/namespaces/bench/orders';

/** Requests against the API server alone (no ArtifactTypes exist, so nothing runs): 5,000 Orders of about 2 kB. */
export async function benchApi(): Promise<void> {
  const results = new Map<string, { n: number; unit: string; values: number[] }>();
  const keep = (name: string, n: number, unit: string, value: number) => {
    const kept = results.get(name) ?? { n, unit, values: [] };
    kept.values.push(value);
    results.set(name, kept);
  };
  for (let round = 1; round <= rounds; round++) {
    const standalone = await startMeasured('api');
    const signal = AbortSignal.timeout(300_000);
    await standalone.admin.create(
      namespaces,
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bench' } },
      signal,
    );
    const agent = new https.Agent({ keepAlive: true, maxSockets: parallel });
    const call = (method: string, target: string, body?: object) =>
      request(standalone, agent, method, target, body);

    keep('create', objects, '1/s', await rate(objects, (index) => call('POST', path, orderOf(index))));
    keep('get', objects, '1/s', await rate(objects, (index) => call('GET', `${path}/o-${index}`)));
    const began = performance.now();
    const bytes = await call('GET', path);
    keep('list', objects, 'ms', performance.now() - began);
    progress(`api, run ${round} of ${rounds}: a list is ${(bytes / 1e6).toFixed(1)} MB`);
    keep('watchFanout', watchers, 'events/s', await fanOut(standalone, call));
    agent.destroy();
    await standalone.close();
  }
  for (const [name, { n, unit, values }] of results)
    report({ bench: 'api', case: name, n, ours: median(values), unit });
}

async function rate(count: number, one: (index: number) => Promise<unknown>): Promise<number> {
  const began = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      while (next < count) await one(next++);
    }),
  );
  return count / ((performance.now() - began) / 1000);
}

/** Events delivered per second while one object is updated with everybody watching. */
async function fanOut(
  standalone: MeasuredStandalone,
  call: (method: string, target: string, body?: object) => Promise<number>,
): Promise<number> {
  const agent = new https.Agent({ maxSockets: watchers });
  const { promise: all, resolve } = Promise.withResolvers<void>();
  let delivered = 0;
  const open = Array.from({ length: watchers }, async () => {
    const target = `${standalone.server}${path}?watch=true&fieldSelector=metadata.name%3Do-0`;
    const watch = https.get(target, { agent, headers: { authorization: `Bearer ${standalone.token}` } });
    const [response] = await once(watch, 'response');
    const { promise: first, resolve: started } = Promise.withResolvers<void>();
    response.on('data', (chunk: Buffer) => {
      started();
      for (const byte of chunk) if (byte === 10) delivered += 1;
      if (delivered >= watchers * (updates + 1)) resolve();
    });
    response.on('error', () => undefined); // destroyed below
    await first;
    return watch;
  });
  const requests = await Promise.all(open);
  const began = performance.now();
  for (let index = 0; index < updates; index++)
    await call('PATCH', `${path}/o-0`, { metadata: { annotations: { tick: String(index) } } });
  await all;
  const seconds = (performance.now() - began) / 1000;
  for (const watch of requests) watch.destroy();
  agent.destroy();
  return (watchers * updates) / seconds;
}

/** Resolves with the bytes of the body; anything but a 2xx rejects. */
async function request(
  { server, token }: MeasuredStandalone,
  agent: https.Agent,
  method: string,
  target: string,
  body?: object,
): Promise<number> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const outgoing = https.request(`${server}${target}`, {
    method,
    agent,
    headers: { authorization: `Bearer ${token}`, 'content-type': type },
  });
  outgoing.end(body && JSON.stringify(body));
  const [response] = await once(outgoing, 'response');
  let bytes = 0;
  for await (const chunk of response) bytes += chunk.length;
  if (response.statusCode >= 300) throw new Error(`${method} ${target} answered ${response.statusCode}`);
  return bytes;
}

function orderOf(index: number) {
  return {
    apiVersion: orders.apiVersion,
    kind: orders.kind,
    metadata: { name: `o-${index}`, namespace: 'bench', labels: { shard: String(index % 10) } },
    spec: {
      defaults: { srcRef: { name: 'source' }, dstRef: { name: 'destination' } },
      suspend: true,
      artifacts: Array.from({ length: 12 }, (_, artifact) => ({
        name: `artifact-${artifact}`,
        type: 'oci',
        spec: {
          image: `team/application-${artifact}:1.0.${index}`,
          override: `mirror/application-${artifact}`,
        },
      })),
    },
  };
}
