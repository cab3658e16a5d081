import { ArcError } from '#shared/base/errors';
import { endpoints, type Order, orders } from '#shared/domain';
import type { KubeClient } from '#shared/kubernetes/client';
import { startRegistry } from '#shared/local';
import { apply } from '../../../scripts/demo/apply.ts';
import {
  namespace,
  platformObjects,
  type RegistryAccess,
  tenantObjects,
} from '../../../scripts/demo/objects.ts';
import { progress, report } from '../measure/report.ts';
import { type MeasuredStandalone, startMeasured } from '../measure/standalone-process.ts';
import { follow } from './follow.ts';
import { each, orderOfCopies } from './orders.ts';
import { playArgo } from './played-argo.ts';

const seconds = 60;
const changesPerSecond = 100;
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * `bench rest [<finished Orders>] [steps]`: what a standalone with nothing to do costs, with a tenth as many failed Orders and Endpoints with
 * credentials; then how long a step takes, from the change of an Order that makes it due to the last answer of the functions, at 100 changes a
 * second. With `steps` only the latter, half a minute after the last Order has ended.
 */
export async function benchRest([asked = '1000', part]: readonly string[]): Promise<void> {
  const finished = Number(asked);
  const credentials = { username: 'bench', password: 'bench' };
  const registry = await startRegistry({ auth: 'none' });
  const access: RegistryAccess = { url: registry.url, credentials };
  const standalone = await startMeasured({ runsWorkflows: false });
  const { admin: api } = standalone;
  const ended = new AbortController();
  const { signal } = ended;
  for (const object of [...(await platformObjects()), ...tenantObjects(access, access)])
    await apply(api, object, signal);
  const more = Array.from({ length: finished / 10 - 2 }, (_, index) => `idle-${index}`);
  await each(more, (name) => createEndpoint(api, name, registry.url, signal));

  const argo = playArgo(api, signal);
  const settled = follow<Order>(api, orders, signal, ({ status }) =>
    ['Succeeded', 'Failed'].includes(status?.phase ?? ''),
  );
  const names = Array.from({ length: finished }, (_, index) => `done-${index}`);
  const failing = Array.from({ length: finished / 10 }, (_, index) => `failed-${index}`);
  await each(names, (name) => api.create(orders, orderOfCopies(name, 1), signal));
  await each(failing, (name) => api.create(orders, orderOfCopies(name, 1, { type: 'unknown' }), signal));
  await argo.running(finished);
  await argo.succeed();
  await settled.until((chosen) => chosen === finished + failing.length);
  if (part === 'steps') await wait(30_000);
  else await measureRest(standalone, finished);
  await measureSteps(standalone, names, signal);
  ended.abort();
  await standalone.close();
  await registry.close();
}

async function measureRest(standalone: MeasuredStandalone, finished: number): Promise<void> {
  progress('rest: all Orders have ended; twelve minutes until nothing is looked at again');
  // What waits for a person is tried each minute for ten minutes.
  await wait(12 * 60_000);
  const [before, counted] = [await standalone.usage(), await standalone.counts()];
  await wait(seconds * 1_000);
  const [after, recounted] = [await standalone.usage(), await standalone.counts()];
  const share = (100 * (after.cpuSeconds - before.cpuSeconds)) / seconds;
  const figure = { bench: 'rest', n: finished, less: true } as const;
  report({ ...figure, case: 'cpu', ours: share, unit: '% of a core' });
  const deliveries = recounted.deliveries - counted.deliveries;
  report({ ...figure, case: 'deliveries', ours: deliveries, unit: `in ${seconds} s` });
  report({ ...figure, case: 'rss', ours: (after.mebibytes * 2 ** 20) / 1e6, unit: 'MB' });
}

async function measureSteps(
  standalone: MeasuredStandalone,
  names: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { admin: api } = standalone;
  const before = await standalone.usage();
  const began = new Map<string, number>();
  const touched: Promise<void>[] = [];
  for (const name of names) {
    touched.push(touch(api, name, signal, began));
    await wait(1_000 / changesPerSecond);
  }
  await Promise.all(touched);
  await wait(5_000);
  const after = await standalone.usage();
  const answers = await standalone.answers();
  const ways = [...began]
    .map(([name, since]) => (answers[name] ?? 0) - since)
    .filter((way) => way >= 0)
    .toSorted((a, b) => a - b);
  const { length: n } = names;
  if (ways.length < n) progress(`rest: ${n - ways.length} changes were not answered in time`);
  const figure = { bench: 'rest', n, less: true } as const;
  const cpu = (1_000 * (after.cpuSeconds - before.cpuSeconds)) / n;
  report({ ...figure, case: 'step cpu', ours: cpu, unit: 'ms of CPU' });
  for (const [name, part] of [
    ['p50', 0.5],
    ['p99', 0.99],
  ] as const)
    report({
      ...figure,
      case: `step ${name}`,
      ours: ways[Math.floor(part * ways.length)] ?? Number.NaN,
      unit: 'ms',
    });
}

/** Edits the spec in a way that runs nothing again, so that a step is due. A change that fails is reported, and not measured. */
async function touch(
  api: KubeClient,
  name: string,
  signal: AbortSignal,
  began: Map<string, number>,
): Promise<void> {
  const patch = { spec: { revisionHistoryLimit: 3 } };
  const now = Date.now();
  try {
    await api.mergePatch(orders, { namespace, name }, patch, {}, signal);
    began.set(name, now);
  } catch (caught) {
    progress(`rest: ${name} was not changed: ${ArcError.from(caught).message}`);
  }
}

async function createEndpoint(
  api: KubeClient,
  name: string,
  url: string,
  signal: AbortSignal,
): Promise<void> {
  const { apiVersion, kind } = endpoints;
  const spec = { type: 'oci', remoteURL: url, secretRef: { name: 'source-credentials' } };
  await api.create(endpoints, { apiVersion, kind, metadata: { name, namespace }, spec }, signal);
}
