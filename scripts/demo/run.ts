import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { ArcError, printable } from '#shared/base/errors';
import { createLogger } from '#shared/base/telemetry';
import { type Registry, startRegistry } from '#shared/local';
import { createDisplay, screenOf } from '../arcctl/core/display.ts';
import { type Standalone, startStandalone } from '../standalone/standalone.ts';
import { apply } from './apply.ts';
import type { DemoOptions } from './arguments.ts';
import { makeChart } from './chart.ts';
import { followOrder, type ShownArtifact, shownArtifacts } from './follow.ts';
import { namespace, orderOf, platformObjects, type RegistryAccess, tenantObjects } from './objects.ts';
import { type SourcedArtifact, seedSource, sourceOutside } from './sources.ts';
import { pullBack } from './verify.ts';
import { serveWeb } from './web.ts';

const deadlineMs = 120_000;

export interface DemoReport {
  ok: boolean;
  seconds: number;
  artifacts: {
    name: string;
    phase: string;
    sourceDigest: string | null;
    destinationDigest: string | null;
    /** Number of images of a chart. */
    images: number;
    message: string | null;
  }[];
}

/** Runs the whole demo; all processes and files are removed when this resolves. */
export async function runDemo(options: DemoOptions, interrupt: AbortSignal): Promise<DemoReport> {
  const say = (text: string) => void process.stderr.write(`${text}\n`);
  const began = performance.now();
  await using stack = new AsyncDisposableStack();
  const signal = AbortSignal.any([interrupt, AbortSignal.timeout(deadlineMs)]);

  const folder = await mkdtemp(path.join(os.tmpdir(), 'arc-demo-'));
  stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  const log = createLogger({ name: 'demo', level: 'error' });
  const standalone = await startStandalone({ folder, port: 0, programs: {}, log });
  stack.defer(() => standalone.close());
  say(`standalone   ${standalone.url}, started in ${secondsSince(began)} s`);

  const destination = await serveRegistry(stack);
  say(`destination  ${destination.access.url}, empty, behind Basic auth`);
  const source = options.source === undefined ? await serveRegistry(stack) : undefined;
  const sourced = source ? await seedSource(source) : await sourceOutside(options.source ?? '', signal);
  say(`source       ${sourced.access.url}, with ${sourced.description}`);
  // The images of the chart are in the demo's own registry.
  const chart = source && (await makeChart(source.registry));
  const web = await serveWeb(stack, chart);
  say(`web          ${web.url}, with a file (4 MiB)${chart ? ' and a chart of 2 images (4 MiB)' : ''}`);
  const asked = [...sourced.artifacts, ...web.artifacts];

  const tenant = tenantObjects(sourced.access, destination.access, {
    url: web.url,
    registry: sourced.access,
  });
  for (const object of [...(await platformObjects()), ...tenant])
    await apply(standalone.admin, object, signal);
  await apply(standalone.admin, orderOf(asked), signal);
  say(`order        ${asked.length} artifacts, created through the API\n`);

  const display = createDisplay(screenOf(process.stderr));
  const show = (artifacts: ShownArtifact[]) =>
    display.show(artifacts.map(({ name, phase, progress, message }) => ({ name, phase, progress, message })));
  const order = await followOrder(standalone.admin, { namespace, name: 'demo' }, show, signal);
  show(shownArtifacts(order));

  const artifacts = await Promise.all(
    shownArtifacts(order).map((artifact) => verify(artifact, asked, destination.access, signal)),
  );
  const report = { ok: artifacts.every((row) => row.ok), seconds: Number(secondsSince(began)), artifacts };
  say(`\n${explain(artifacts)}\n${report.ok ? 'ok' : 'NOT ok'} in ${report.seconds} s`);
  if (options.keep) await keepRunning(standalone, sourced.access, destination.access, interrupt);
  return { ...report, artifacts: artifacts.map(({ ok: _, ...row }) => row) };
}

async function serveRegistry(
  stack: AsyncDisposableStack,
): Promise<{ registry: Registry; access: RegistryAccess }> {
  const credentials = { username: 'conduit', password: randomBytes(12).toString('base64url') };
  const registry = await startRegistry({ auth: 'basic', ...credentials });
  stack.defer(() => registry.close());
  return { registry, access: { url: registry.url, credentials } };
}

type Verified = DemoReport['artifacts'][number] & { ok: boolean };

/** Verifies an artifact: it is Invalid if expected, or its content at the destination equals the source. */
async function verify(
  artifact: ShownArtifact,
  asked: readonly SourcedArtifact[],
  destination: RegistryAccess,
  signal: AbortSignal,
): Promise<Verified> {
  const arrivals = asked[artifact.artifactIndex]?.arrivals;
  if (!arrivals) throw new ArcError('InternalError', `the status names artifact ${artifact.artifactIndex}`);
  const { name, phase, message = null } = artifact;
  const [first, ...images] = arrivals;
  const row = { name, phase, sourceDigest: first?.digest ?? null, message, images: images.length };
  if (!first || phase !== 'Succeeded')
    return { ...row, destinationDigest: null, ok: !first && phase === 'Invalid' };
  const found = await Promise.all(
    arrivals.map(async ({ repository, tag, digest, of, referrers }) => {
      const pulled = await pullBack(destination, repository, tag, signal);
      const there = of === 'layer' ? pulled.layers[0] : pulled.digest;
      return { digest: there, isEqual: there === digest && pulled.referrers >= referrers };
    }),
  );
  return {
    ...row,
    destinationDigest: found[0]?.digest ?? null,
    ok: found.every(({ isEqual }) => isEqual),
  };
}

function explain(artifacts: readonly Verified[]): string {
  return artifacts
    .map(({ name, phase, sourceDigest, destinationDigest, images, message, ok }) => {
      const what = images > 0 ? `${destinationDigest} and its ${images} images` : destinationDigest;
      const verdict = destinationDigest
        ? `${what} at the destination, pulled back and hashed: ${ok ? 'equal' : `DIFFERENT from the source (${sourceDigest})`}`
        : printable(message ?? 'no message');
      return `  ${ok ? '✓' : '✗'} ${name.padEnd(12)} ${phase.padEnd(10)} ${verdict}`;
    })
    .join('\n');
}

async function keepRunning(
  standalone: Standalone,
  source: RegistryAccess,
  destination: RegistryAccess,
  interrupt: AbortSignal,
): Promise<void> {
  const login = ({ credentials }: RegistryAccess) =>
    credentials ? ` (${credentials.username} / ${credentials.password})` : '';
  process.stderr.write(`
Everything is still running. To explore:
  export KUBECONFIG=${standalone.kubeconfig}
  kubectl get orders,artifactworkflows,workflows -n ${namespace}
  kubectl describe order demo -n ${namespace}
  kubectl events -n ${namespace}
source       ${source.url}${login(source)}
destination  ${destination.url}${login(destination)}
Ctrl-C stops everything and removes all files.
`);
  if (interrupt.aborted) return;
  await new Promise((resolve) => interrupt.addEventListener('abort', resolve, { once: true }));
}

function secondsSince(began: number): string {
  return ((performance.now() - began) / 1000).toFixed(1);
}
