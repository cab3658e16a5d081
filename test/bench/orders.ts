import { orders } from '#shared/domain';
import { type Registry, seedImage, startRegistry } from '#shared/local';
import { apply } from '../../scripts/demo/apply.ts';
import { followOrder } from '../../scripts/demo/follow.ts';
import { namespace, platformObjects, tenantObjects } from '../../scripts/demo/objects.ts';
import { median, progress, report } from './measure/report.ts';
import { type MeasuredSettings, startMeasured } from './measure/standalone-process.ts';

const sizes = [1, 10, 100, 1000];

interface Run {
  seconds: number;
  cpuSeconds: number;
  peakMebibytes: number;
  writesPerArtifact: number;
  bytesPerArtifact: number;
}

const units: Record<keyof Run, string> = {
  seconds: 's',
  cpuSeconds: 's of CPU',
  peakMebibytes: 'MiB',
  writesPerArtifact: 'writes/artifact',
  bytesPerArtifact: 'bytes/artifact',
};

/** `bench order [--rounds=5] [n …]`: Orders of n one-blob artifacts, each against a fresh standalone: POST -> all Succeeded. Sizes are interleaved. */
export async function benchOrders(words: readonly string[]): Promise<void> {
  const rounds = Number(words.find((word) => word.startsWith('--rounds='))?.slice('--rounds='.length) ?? 5);
  const numbers = words.filter((word) => !word.startsWith('--')).map(Number);
  const asked = numbers.length > 0 ? numbers : sizes;
  const source = await startSource();
  const runs = new Map<number, Run[]>(asked.map((size) => [size, []]));
  for (let round = 1; round <= rounds; round++)
    for (const size of asked) {
      const run = await runOrder(source, size);
      runs.get(size)?.push(run);
      progress(`order ${size}, run ${round} of ${rounds}: ${JSON.stringify(run)}`);
    }
  for (const [size, measured] of runs)
    for (const [name, unit] of Object.entries(units) as [keyof Run, string][])
      report({ bench: 'order', case: name, n: size, ours: median(measured.map((run) => run[name])), unit });
  await source.close();
}

/** A registry with an image of one blob of 4 KiB. */
export async function startSource(): Promise<Registry> {
  const source = await startRegistry({ auth: 'none' });
  await seedImage(source, 'team/app', '1.0', {
    platforms: ['linux/amd64'],
    layers: 1,
    layerBytes: 4096,
    signature: false,
  });
  return source;
}

export async function runOrder(
  source: Registry,
  size: number,
  settings: MeasuredSettings = {},
): Promise<Run> {
  const destination = await startRegistry({ auth: 'none' });
  const standalone = await startMeasured(settings);
  const signal = AbortSignal.timeout(600_000);
  for (const object of [
    ...(await platformObjects()),
    ...tenantObjects({ url: source.url }, { url: destination.url }),
  ])
    await apply(standalone.admin, object, signal);

  const before = { usage: await standalone.usage(), ...(await standalone.counts()) };
  const began = performance.now();
  await standalone.admin.create(orders, orderOfCopies(size), signal);
  const order = await followOrder(standalone.admin, { namespace, name: 'bench' }, () => undefined, signal);
  const seconds = (performance.now() - began) / 1000;
  if (order.status?.phase !== 'Succeeded') throw new Error(`the Order ended ${order.status?.phase}`);
  const after = { usage: await standalone.usage(), ...(await standalone.counts()) };
  await standalone.close();
  await destination.close();
  return {
    seconds,
    cpuSeconds: after.usage.cpuSeconds - before.usage.cpuSeconds,
    peakMebibytes: after.usage.peakMebibytes,
    writesPerArtifact: (after.writes - before.writes) / size,
    bytesPerArtifact: (after.bytes - before.bytes) / size,
  };
}

function orderOfCopies(size: number) {
  return {
    apiVersion: orders.apiVersion,
    kind: orders.kind,
    metadata: { name: 'bench', namespace },
    spec: {
      defaults: { srcRef: { name: 'source' }, dstRef: { name: 'destination' } },
      artifacts: Array.from({ length: size }, (_, index) => ({
        type: 'oci',
        spec: { image: 'team/app:1.0', override: `bench/app-${index}:1.0` },
      })),
    },
  };
}
