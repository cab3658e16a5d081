import { namespace, type Target, writes } from './api-targets.ts';
import type { BenchConnection } from './measure/raw-connection.ts';
import { median } from './measure/report.ts';

/** One round of one case against one server. */
export interface Sample {
  value: number;
  /** CPU of the server for one operation, in ms. */
  cpu: number;
}

export interface Case {
  name: string;
  n: number;
  unit: '1/s' | 'ms' | 'events/s';
  /** Undefined where the server did not go through with it. */
  run(target: Target, round: number): Promise<Sample | undefined>;
}

/** Objects of about 2 kB that are there before anything is measured. */
export const seeded = 5000;

const parallel = 16;
/** Updates in flight while all watch: what comes faster than they can read makes a server give watches up. */
const paced = 4;
const written = 1000;
const read = 2000;
const watchers = 200;
const updates = 300;

const json = 'Content-Type: application/json\r\n';
const merge = 'Content-Type: application/merge-patch+json\r\n';
const apply = 'Content-Type: application/apply-patch+yaml\r\n';
const accept = (as: string) => `Accept: application/json;as=${as};v=v1;g=meta.k8s.io\r\n`;

export const cases: readonly Case[] = [
  {
    name: 'create',
    n: written,
    unit: '1/s',
    run: (target, round) =>
      rate(target, written, (connection, index) => {
        const body = suspendedOrder(target, writes, `${target.name}-${round}-${index}`, index);
        return connection.send('POST', pathOf(target, writes), json, JSON.stringify(body));
      }),
  },
  {
    name: 'get',
    n: read,
    unit: '1/s',
    run: (target, round) =>
      rate(target, read, (connection, index) =>
        connection.send('GET', `${pathOf(target)}/o-${(round * read + index) % seeded}`),
      ),
  },
  {
    name: 'mergePatch',
    n: written,
    unit: '1/s',
    run: (target, round) =>
      rate(target, written, (connection, index) => {
        const body = { metadata: { annotations: { tick: `${round}` } }, spec: { suspend: round % 2 === 0 } };
        return connection.send('PATCH', `${pathOf(target)}/o-${index}`, merge, JSON.stringify(body));
      }),
  },
  {
    name: 'apply',
    n: written,
    unit: '1/s',
    run: (target, round) =>
      rate(target, written, (connection, index) => {
        const name = `o-${index + written}`;
        const body = suspendedOrder(target, namespace, name, index + written, round);
        const path = `${pathOf(target)}/${name}?fieldManager=applier&force=true`;
        return connection.send('PATCH', path, apply, JSON.stringify(body));
      }),
  },
  list('list5000', seeded, '', '', 5),
  list('list500', 500, '?limit=500', '', 20),
  list('listSelector', seeded / 10, '?labelSelector=shard%3D3', '', 20),
  list('listTable', seeded, '', accept('Table'), 3),
  list('listMetadata', seeded, '', accept('PartialObjectMetadataList'), 3),
  { name: 'watchFanout', n: watchers * updates, unit: 'events/s', run: fanOut },
];

/** Makes `count` objects, unmeasured. */
export async function seed(target: Target, into: string, count: number): Promise<void> {
  await rate(target, count, (connection, index) => {
    const body = JSON.stringify(suspendedOrder(target, into, `o-${index}`, index));
    return connection.send('POST', pathOf(target, into), json, body);
  });
}

export function pathOf({ group }: Target, inside = namespace): string {
  return `/apis/${group}/v1alpha1/namespaces/${inside}/orders`;
}

function list(name: string, n: number, query: string, headers: string, times: number): Case {
  return {
    name,
    n,
    unit: 'ms',
    async run(target) {
      const connection = await target.open();
      const before = await target.usage();
      const values: number[] = [];
      for (let index = 0; index < times; index++) {
        const began = performance.now();
        await connection.send('GET', `${pathOf(target)}${query}`, headers);
        values.push(performance.now() - began);
      }
      const after = await target.usage();
      connection.close();
      return { value: median(values), cpu: ((after.cpuSeconds - before.cpuSeconds) / times) * 1000 };
    },
  };
}

/** Operations a second with `parallel` of them in flight, each on a connection of its own. */
async function rate(
  target: Target,
  count: number,
  one: (connection: BenchConnection, index: number) => Promise<unknown>,
  inFlight = parallel,
): Promise<Sample> {
  const connections = await Promise.all(Array.from({ length: inFlight }, () => target.open()));
  const before = await target.usage();
  const began = performance.now();
  let next = 0;
  await Promise.all(
    connections.map(async (connection) => {
      while (next < count) await one(connection, next++);
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  const after = await target.usage();
  for (const connection of connections) connection.close();
  return { value: count / seconds, cpu: ((after.cpuSeconds - before.cpuSeconds) / count) * 1000 };
}

/** Events delivered to everybody who watches a namespace, from the first update to the last line. */
async function fanOut(target: Target, round: number): Promise<Sample | undefined> {
  const { promise: all, resolve } = Promise.withResolvers<boolean>();
  let delivered = 0;
  const count = (lines: number) => {
    delivered += lines;
    if (delivered >= watchers * updates) resolve(true);
  };
  const connections = await Promise.all(Array.from({ length: watchers }, () => target.open()));
  const one = JSON.parse(await target.read(`${pathOf(target)}?limit=1`)) as {
    metadata: { resourceVersion: string };
  };
  const query = `?watch=true&resourceVersion=${one.metadata.resourceVersion}`;
  const path = pathOf(target);
  await Promise.all(
    connections.map((connection) => connection.watch(`${path}${query}`, count, () => resolve(false))),
  );
  const before = await target.usage();
  const began = performance.now();
  const body = JSON.stringify({ metadata: { annotations: { fan: `${round}` } } });
  const update = (connection: BenchConnection, index: number) =>
    connection.send('PATCH', `${path}/o-${2 * written + index}`, merge, body);
  await rate(target, updates, update, paced);
  const complete = await all;
  const seconds = (performance.now() - began) / 1000;
  const after = await target.usage();
  for (const connection of connections) connection.close();
  if (!complete) return undefined;
  const events = watchers * updates;
  return { value: events / seconds, cpu: ((after.cpuSeconds - before.cpuSeconds) / events) * 1000 };
}

function suspendedOrder(target: Target, inside: string, name: string, index: number, tag = 0) {
  return {
    apiVersion: `${target.group}/v1alpha1`,
    kind: 'Order',
    metadata: { name, namespace: inside, labels: { shard: String(index % 10) } },
    spec: {
      defaults: { srcRef: { name: 'source' }, dstRef: { name: 'destination' } },
      suspend: true,
      artifacts: Array.from({ length: 12 }, (_, artifact) => ({
        name: `artifact-${artifact}`,
        type: 'oci',
        spec: {
          image: `team/application-${artifact}:1.${tag}.${index}`,
          override: `mirror/application-${artifact}`,
        },
      })),
    },
  };
}
