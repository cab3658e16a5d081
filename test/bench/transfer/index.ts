import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { buildFunctions } from '../../../scripts/build/bundle.ts';
import {
  type RegistryProcess,
  registryTools,
  startRegistryProcess,
} from '../../fixtures/image/registry-tools.ts';
import { median, progress, report } from '../report.ts';
import { storeImage } from './images.ts';
import { type Cost, measure } from './measured-program.ts';

const mebibyte = 1024 * 1024;
const images = {
  '1 GiB in 8 layers': [8, 128 * mebibyte],
  '200 layers of 64 KiB': [200, 64 * 1024],
  'one layer of 1 MiB': [1, mebibyte],
} as const;
/** The same again, to a destination that has it. */
const unchanged = 'one layer of 1 MiB, unchanged';
const rounds = 5;
/** Of what a registry prints, as much is kept of each of its two streams. */
const longestLog = 100_000;

type Measured = Cost & { requests: number };
const units = {
  seconds: 's',
  cpuSeconds: 's of CPU',
  peakMebibytes: 'MiB',
  requests: 'requests',
} as const satisfies Record<keyof Measured, string>;

/** Moves an image from `from` to `to`, both `host/path:tag`. */
type Tool = (from: string, to: string) => Promise<Cost>;

/** Copies between two registries of the CNCF distribution over loopback: the worker's bundle as a process, and crane, by turns. */
export async function benchTransfer(asked: readonly string[]): Promise<void> {
  const folder = registryTools();
  if (folder === undefined) {
    progress('transfer is left out: set REGISTRY_TOOLS to a folder made by .ci/registry-tools/build.sh');
    return;
  }
  const work = await mkdtemp(path.join(os.tmpdir(), 'arc-bench-'));
  try {
    const tools: Record<'ours' | 'theirs', Tool> = {
      ours: await workerTool(work),
      theirs: (from, to) => measure([path.join(folder, 'crane'), 'copy', '--insecure', from, to]),
    };
    const cases = [...Object.keys(images), unchanged];
    for (const name of asked.length > 0 ? asked : cases) {
      const [source, destination] = [await startRegistryProcess(folder), await startRegistryProcess(folder)];
      try {
        await benchCase(name, tools, source, destination);
      } finally {
        await Promise.all([source.stop(), destination.stop()]);
      }
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function benchCase(
  name: string,
  tools: Record<'ours' | 'theirs', Tool>,
  source: RegistryProcess,
  destination: RegistryProcess,
): Promise<void> {
  const again = name === unchanged;
  const [layers, layerBytes] = Object.entries(images).find(
    ([each]) => each === name.replace(', unchanged', ''),
  )?.[1] ?? [1, mebibyte];
  const image = `bench/${layers}x${layerBytes}`;
  await storeImage(source.host, `${image}:1`, layers, layerBytes);
  const runs: Record<'ours' | 'theirs', Measured[]> = { ours: [], theirs: [] };
  for (let round = 0; round <= rounds; round += 1)
    for (const who of ['ours', 'theirs'] as const) {
      const to = `${destination.host}/${who}/${image}-${again ? 'same' : round}:1`;
      const before = requests(source) + requests(destination);
      const cost = await tools[who](`${source.host}/${image}:1`, to);
      const measured = { ...cost, requests: requests(source) + requests(destination) - before };
      progress(`${name}: ${who}, round ${round} of ${rounds}: ${JSON.stringify(measured)}`);
      // The first is to warm up, or to put it there.
      if (round > 0) runs[who].push(measured);
    }
  for (const [field, unit] of Object.entries(units) as [keyof Measured, string][]) {
    const [ours, theirs] = (['ours', 'theirs'] as const).map((who) =>
      median(runs[who].map((run) => run[field])),
    );
    // Not counted where the log does not reach back to the start of the run.
    if (Number.isNaN(ours) || Number.isNaN(theirs)) continue;
    report({
      bench: 'transfer',
      case: `${name} ${field} (crane)`,
      n: rounds,
      ours: ours ?? 0,
      theirs: theirs ?? 0,
      unit,
      less: true,
    });
  }
}

/** The requests in the log so far; NaN when it no longer holds all of them. */
function requests(registry: RegistryProcess): number {
  if (registry.log().length >= longestLog) return Number.NaN;
  return registry.log().match(/"(?:GET|HEAD|POST|PUT|PATCH|DELETE) \/v2\//g)?.length ?? 0;
}

/** The worker as it is in the image, one process a copy. */
async function workerTool(work: string): Promise<Tool> {
  const bundles = await buildFunctions(path.join(work, 'bundles'));
  const bundle = bundles.find(({ name }) => name === 'transfer-worker');
  if (!bundle) throw new Error('there is no bundle of the transfer-worker');
  const config = path.join(work, 'config');
  await mkdir(config);
  return async (from, to) => {
    const end = (reference: string) => {
      const slash = reference.indexOf('/');
      const remoteURL = `http://${reference.slice(0, slash)}`;
      return { endpoint: { name: 'bench', type: 'oci', remoteURL }, image: reference.slice(slash + 1) };
    };
    const [source, destination] = [end(from), end(to)];
    const job = {
      artifact: { type: 'oci', spec: { image: source.image, override: destination.image } },
      source: source.endpoint,
      destination: destination.endpoint,
    };
    await writeFile(path.join(config, 'job.json'), JSON.stringify(job));
    return measure([process.execPath, bundle.file], {
      ARC_CONFIG_DIR: config,
      ARC_WORK_DIR: path.join(work, 'blobs'),
      ARC_RESULT_FILE: path.join(work, 'result.json'),
    });
  };
}
