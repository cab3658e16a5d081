import { setTimeout as sleep } from 'node:timers/promises';
import { ArcError } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import { annotations, type Order, orders } from '#shared/domain';
import type { KubeClient } from '#shared/kubernetes/client';
import { type Registry, seedImage, startRegistry } from '#shared/local';
import { apply } from '../../scripts/demo/apply.ts';
import { followOrder } from '../../scripts/demo/follow.ts';
import { platformObjects, tenantObjects } from '../../scripts/demo/objects.ts';
import { median, progress, report } from './measure/report.ts';
import { startMeasured } from './measure/standalone-process.ts';

const greedy = 'greedy';
const honest = 'honest';
const samples = 10;

/**
 * `bench tenants [n …]`: how long an Order of one small artifact takes alone, while another namespace has an Order of n artifacts under way, and
 * while that namespace forces it every second as well.
 */
export async function benchTenants(words: readonly string[]): Promise<void> {
  const sizes = words.length > 0 ? words.map(Number) : [5_000];
  const source = await startRegistry({ auth: 'none' });
  await seedImage(source, 'team/app', '1.0', {
    platforms: ['linux/amd64'],
    layers: 1,
    layerBytes: 4096,
    signature: false,
  });
  for (const size of sizes) for (const forces of [false, true]) await runBeside(source, size, forces);
  await source.close();
}

async function runBeside(source: Registry, size: number, forces: boolean): Promise<void> {
  const destination = await startRegistry({ auth: 'none' });
  const standalone = await startMeasured();
  const { admin } = standalone;
  const signal = AbortSignal.timeout(30 * 60_000);
  const shared = tenantObjects({ url: source.url }, { url: destination.url });
  const objects = [greedy, honest].flatMap((namespace) => shared.map((object) => within(object, namespace)));
  for (const object of [...(await platformObjects()), ...objects]) await apply(admin, object, signal);

  const alone = await sample(admin, 'alone', 0, signal);
  await admin.create(orders, orderOf(greedy, 'many', size), signal);
  const forcing = new AbortController();
  const forced = forces ? forceEverySecond(admin, forcing.signal) : undefined;
  const beside = await sample(admin, 'beside', 2_000, signal);
  forcing.abort();
  const refused = await forced;
  const { status } = (await admin.get(orders, { namespace: greedy, name: 'many' }, signal)) ?? {};
  const what = forces ? `beside, forced every second (${refused} refused)` : 'beside';
  progress(`tenants ${size}, ${what}: ${JSON.stringify({ alone, beside, counts: status?.counts })}`);
  const figure = { bench: 'tenants', n: size, unit: 's', less: true };
  const name = forces ? 'one artifact beside, forced every second' : 'one artifact beside';
  report({ ...figure, case: `${name}, median`, ours: median(beside), theirs: median(alone) });
  report({ ...figure, case: `${name}, longest`, ours: Math.max(...beside), theirs: Math.max(...alone) });
  await standalone.close();
  await destination.close();
}

/** Seconds that Orders of one artifact take, one after the other. */
async function sample(
  admin: KubeClient,
  prefix: string,
  betweenMs: number,
  signal: AbortSignal,
): Promise<number[]> {
  const seconds: number[] = [];
  for (let at = 0; at < samples; at += 1) {
    await sleep(betweenMs, undefined, { signal });
    const name = `${prefix}-${at}`;
    const began = performance.now();
    await admin.create(orders, orderOf(honest, name, 1), signal);
    const order = await followOrder(admin, { namespace: honest, name }, () => undefined, signal);
    if (order.status?.phase !== 'Succeeded') throw new Error(`the Order ended ${order.status?.phase}`);
    seconds.push(Math.round(performance.now() - began) / 1000);
    progress(`tenants: ${name} took ${seconds.at(-1)} s`);
  }
  return seconds;
}

/** Resolves with the number of requests that were refused. */
async function forceEverySecond(admin: KubeClient, signal: AbortSignal): Promise<number> {
  let refused = 0;
  while (!signal.aborted) {
    const forceAt = String(Math.floor(Date.now() / 1000));
    const patch = { metadata: { annotations: { [annotations.forceAt]: forceAt } } };
    try {
      await admin.mergePatch(orders, { namespace: greedy, name: 'many' }, patch);
    } catch (caught) {
      if (!ArcError.is(caught, 'TooManyRequests')) throw caught;
      refused += 1;
    }
    await sleep(1_000, undefined, { signal }).catch(() => undefined);
  }
  return refused;
}

function within(object: KubeObject, namespace: string): KubeObject {
  const { metadata } = object;
  if (object.kind === 'Namespace') return { ...object, metadata: { ...metadata, name: namespace } };
  return { ...object, metadata: { ...metadata, namespace } };
}

function orderOf(namespace: string, name: string, size: number): Order {
  return {
    apiVersion: orders.apiVersion,
    kind: 'Order',
    metadata: { name, namespace },
    spec: {
      defaults: { srcRef: { name: 'source' }, dstRef: { name: 'destination' } },
      artifacts: Array.from({ length: size }, (_, index) => ({
        type: 'oci',
        spec: { image: 'team/app:1.0', override: `${namespace}/${name}-${index}:1.0` },
      })),
    },
  };
}
