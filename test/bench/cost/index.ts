import { ArcError } from '#shared/base/errors';
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  type Endpoint,
  endpoints,
  type Order,
  orders,
} from '#shared/domain';
import { type Registry, startRegistry } from '#shared/local';
import { apply } from '../../../scripts/demo/apply.ts';
import { namespace, platformObjects, tenantObjects } from '../../../scripts/demo/objects.ts';
import { median, progress, report } from '../measure/report.ts';
import { startMeasured } from '../measure/standalone-process.ts';
import { follow } from './follow.ts';
import { each, orderOfCopies } from './orders.ts';
import { playArgo } from './played-argo.ts';

const sizes = ['1x10', '1x100', '1x1000', '1x5000', '1000x1', '10000x1'];
const limitMs = 60 * 60_000;

type Case = keyof typeof units;
const units = {
  secondsToSubmitted: 's',
  secondsToSettled: 's',
  secondsToDeleted: 's',
  cpuSeconds: 's of CPU',
  rssPeak: 'MB',
  writesPerArtifact: 'writes/artifact',
  bytesPerArtifact: 'bytes/artifact',
  deliveriesPerArtifact: 'deliveries/artifact',
  requestsPerArtifact: 'requests/artifact',
  conflicts: 'requests',
};

/** What the Go ARC took, measured apart: see README.md. Its CPU is that until the last Workflow only. */
const theirs: Record<string, Partial<Record<Case, number>>> = {
  '1x100': { secondsToSubmitted: 2.5, secondsToSettled: 0.8, cpuSeconds: 4.1 },
  '1x1000': { secondsToSubmitted: 35, secondsToSettled: 14, secondsToDeleted: 10, cpuSeconds: 58 },
  '1000x1': { secondsToSubmitted: 22, secondsToSettled: 6, secondsToDeleted: 17, cpuSeconds: 30 },
};

/**
 * `bench orders [--rounds=5] [--detail] [<Orders>x<artifacts> …]`: what Orders cost the conduit when transfers cost nothing, because Argo is
 * played. Each run has a fresh standalone. `--detail` shows the requests and deliveries of each run, one by one, on stderr.
 */
export async function benchCost(words: readonly string[]): Promise<void> {
  const rounds = Number(words.find((word) => word.startsWith('--rounds='))?.slice('--rounds='.length) ?? 5);
  const asked = words.filter((word) => !word.startsWith('--'));
  const registry = await startRegistry({ auth: 'none' });
  const runs = new Map<string, Record<Case, number>[]>();
  for (let round = 1; round <= rounds; round++)
    for (const size of asked.length > 0 ? asked : sizes) {
      const { figures, detail } = await run(registry, size);
      runs.set(size, [...(runs.get(size) ?? []), figures]);
      progress(`orders ${size}, run ${round} of ${rounds}: ${JSON.stringify(figures)}`);
      if (words.includes('--detail')) for (const line of detail) progress(line);
    }
  await registry.close();
  for (const [n, measured] of runs)
    for (const [name, unit] of Object.entries(units) as [Case, string][]) {
      const ours = median(measured.map((figures) => figures[name]));
      const go = theirs[n]?.[name];
      report({
        bench: 'orders',
        case: name,
        n,
        ours,
        unit,
        less: true,
        ...(go !== undefined && { theirs: go }),
      });
    }
}

async function run(registry: Registry, size: string) {
  const [count = 0, artifacts = 0] = size.split('x').map(Number);
  if (!(count > 0 && artifacts > 0))
    throw new ArcError('BadRequest', `${size} is not a number of Orders and one of artifacts: 1000x1`);
  const ended = new AbortController();
  const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(limitMs)]);
  const standalone = await startMeasured({ runsWorkflows: false });
  const api = standalone.admin;
  for (const object of [
    ...(await platformObjects()),
    ...tenantObjects({ url: registry.url }, { url: registry.url }),
  ])
    await apply(api, object, signal);
  // What they cost is not what an Order costs.
  const looked = follow<Endpoint>(
    api,
    endpoints,
    signal,
    ({ metadata, status = {} }) =>
      status.lastProbeTime !== undefined && status.observedGeneration === metadata.generation,
  );
  await looked.until((chosen) => chosen === 2);
  const argo = playArgo(api, signal);
  const known = follow<Order>(api, orders, signal, ({ status }) => status?.phase === 'Succeeded');
  const children = follow<ArtifactWorkflow>(api, artifactWorkflows, signal, () => true);
  const names = Array.from({ length: count }, (_, index) => `bench-${index}`);

  const before = { usage: await standalone.usage(), ...(await standalone.counts()) };
  const began = performance.now();
  await each(names, (name) => api.create(orders, orderOfCopies(name, artifacts), signal));
  await argo.running(count * artifacts);
  const submitted = argo.lastAppeared;
  await argo.succeed();
  const marked = performance.now();
  await known.until((chosen) => chosen === count);
  const settled = performance.now();
  const after = { usage: await standalone.usage(), ...(await standalone.counts()) };

  const asked = performance.now();
  await each(names, (name) => api.delete(orders, { namespace, name }, {}, signal));
  await Promise.all([known.until((_, all) => all === 0), children.until((_, all) => all === 0)]);
  while (argo.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const deleted = performance.now();
  const { peakMebibytes } = await standalone.usage();
  const last = await standalone.counts();
  ended.abort();
  await standalone.close();

  const perArtifact = (name: 'writes' | 'bytes' | 'deliveries' | 'requests') =>
    (after[name] - before[name]) / (count * artifacts);
  const figures: Record<Case, number> = {
    secondsToSubmitted: (submitted - began) / 1000,
    secondsToSettled: (settled - marked) / 1000,
    secondsToDeleted: (deleted - asked) / 1000,
    cpuSeconds: after.usage.cpuSeconds - before.usage.cpuSeconds,
    rssPeak: (peakMebibytes * 2 ** 20) / 1e6,
    writesPerArtifact: perArtifact('writes'),
    bytesPerArtifact: perArtifact('bytes'),
    deliveriesPerArtifact: perArtifact('deliveries'),
    requestsPerArtifact: perArtifact('requests'),
    conflicts: after.conflicts - before.conflicts,
  };
  const detail = [
    ...differences('until settled', before.detail, after.detail, count * artifacts),
    ...differences('deletion', after.detail, last.detail, count * artifacts),
  ];
  return { figures, detail };
}

function differences(
  title: string,
  before: Record<string, number>,
  after: Record<string, number>,
  artifacts: number,
): string[] {
  const more = Object.entries(after).map(([what, count]) => [what, count - (before[what] ?? 0)] as const);
  const lines = more.filter(([, count]) => count > 0).sort(([, a], [, b]) => b - a);
  return lines.map(([what, count]) => `  ${title}: ${(count / artifacts).toFixed(2)} ${what}`);
}
