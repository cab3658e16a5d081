import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { registryTools } from '../../fixtures/image/registry-tools.ts';
import { storageTools } from '../../fixtures/image/storage-tools.ts';
import { progress } from '../measure/report.ts';
import { type Case, measureCase } from './case.ts';
import { type FileCase, measureFile } from './files.ts';
import type { Shape } from './images.ts';
import { measureManyJobs } from './many-jobs.ts';
import { findOtherTools } from './other-tools.ts';
import { openWorkers } from './worker.ts';

const mebibyte = 1024 * 1024;
const gibibyte: Shape = { layers: 8, layerBytes: 128 * mebibyte };
const small: Shape = { layers: 1, layerBytes: mebibyte };
const rounds = 5;

const cases: Readonly<Record<string, Case & { onlyAsked?: boolean }>> = {
  '1 GiB in 8 layers': { shape: gibibyte, rounds },
  '1 GiB in 8 layers, hashed by the destination': { shape: gibibyte, rounds, unhashed: true },
  '10 GiB in 8 layers': {
    shape: { layers: 8, layerBytes: 1280 * mebibyte },
    rounds: 1,
    warmUp: false,
    onlyAsked: true,
  },
  '200 layers of 64 KiB': { shape: { layers: 200, layerBytes: 64 * 1024 }, rounds },
  '30 platforms with referrers': { shape: { layers: 2, layerBytes: 64 * 1024, platforms: 30 }, rounds: 3 },
  'one layer of 1 MiB': { shape: small, rounds },
  'one layer of 1 MiB, pool': { shape: small, rounds, pool: true },
  'one layer of 1 MiB, unchanged': { shape: small, rounds, unchanged: true },
  'one layer of 1 MiB, unchanged, pool': { shape: small, rounds, unchanged: true, pool: true },
  '1,000 images of a repository': {
    shape: { layers: 1, layerBytes: 4096, tags: 1000 },
    rounds: 1,
    warmUp: false,
  },
  '1 GiB, connections cut at half': { shape: gibibyte, rounds: 3, warmUp: false, cut: 'connections' },
  '1 GiB, killed at half': { shape: gibibyte, rounds: 3, warmUp: false, cut: 'process' },
};

const files: Readonly<Record<string, FileCase & { onlyAsked?: boolean }>> = {
  '200 MB from HTTP to HTTP': { from: 'http', to: 'http', bytes: 200_000_000, rounds: 3 },
  '200 MB from HTTP to S3': { from: 'http', to: 's3', bytes: 200_000_000, rounds: 3 },
  '200 MB from S3 to S3': { from: 's3', to: 's3', bytes: 200_000_000, rounds: 3 },
  '5 GiB from HTTP to S3': { from: 'http', to: 's3', bytes: 5120 * mebibyte, rounds: 1, onlyAsked: true },
};
const manyJobs = '1,000 charts and files, pool';

/**
 * Copies between two registries of the CNCF distribution over loopback, by turns: the worker's bundle as a process for each, or one for all,
 * and every other tool that is found. `asked`: names of cases, and `--rounds=N`.
 */
export async function benchTransfer(asked: readonly string[]): Promise<void> {
  const folder = registryTools();
  if (folder === undefined) {
    progress('transfer is left out: set REGISTRY_TOOLS to a folder made by .ci/registry-tools/build.sh');
    return;
  }
  const names = asked.filter((each) => !each.startsWith('--'));
  const known = [...Object.keys({ ...cases, ...files }), manyJobs];
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`no case "${unknown}": there are ${known.join('; ')}`);
  const fewer = asked.find((each) => each.startsWith('--rounds='))?.slice('--rounds='.length);
  const isAsked = (name: string, onlyAsked = false) => (names.length > 0 ? names.includes(name) : !onlyAsked);
  const work = await mkdtemp(path.join(os.tmpdir(), 'arc-bench-'));
  const workers = await openWorkers(work);
  try {
    for (const [name, { onlyAsked, ...each }] of Object.entries(cases)) {
      if (!isAsked(name, onlyAsked)) continue;
      const others = await findOtherTools(folder, each.shape);
      const kind = each.pool === true ? 'pool' : each.unhashed === true ? 'unhashed' : 'cold';
      const tools = new Map([['ours', workers[kind]], ...others]);
      await measureCase(folder, name, { ...each, rounds: Number(fewer ?? each.rounds) }, tools);
    }
    if (isAsked(manyJobs)) await measureManyJobs(folder, manyJobs, 1000, workers);
    const storages = storageTools();
    for (const [name, { onlyAsked, ...each }] of Object.entries(files))
      if (storages !== undefined && isAsked(name, onlyAsked))
        await measureFile(storages, name, { ...each, rounds: Number(fewer ?? each.rounds) }, workers);
  } finally {
    await workers.close();
    await rm(work, { recursive: true, force: true });
  }
}
