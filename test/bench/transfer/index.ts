import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { registryTools } from '../../fixtures/image/registry-tools.ts';
import { progress } from '../measure/report.ts';
import { type Case, measureCase } from './case.ts';
import type { Shape } from './images.ts';
import { findOtherTools } from './other-tools.ts';
import { openWorkers } from './worker.ts';

const mebibyte = 1024 * 1024;
const gibibyte: Shape = { layers: 8, layerBytes: 128 * mebibyte };
const small: Shape = { layers: 1, layerBytes: mebibyte };
const rounds = 5;

const cases: Readonly<Record<string, Case & { onlyAsked?: boolean }>> = {
  '1 GiB in 8 layers': { shape: gibibyte, rounds },
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
  '1 GiB, connections cut at half': { shape: gibibyte, rounds: 3, warmUp: false, cut: 'connections' },
  '1 GiB, killed at half': { shape: gibibyte, rounds: 3, warmUp: false, cut: 'process' },
};

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
  const unknown = names.find((name) => !(name in cases));
  if (unknown !== undefined)
    throw new Error(`no case "${unknown}": there are ${Object.keys(cases).join('; ')}`);
  const fewer = asked.find((each) => each.startsWith('--rounds='))?.slice('--rounds='.length);
  const work = await mkdtemp(path.join(os.tmpdir(), 'arc-bench-'));
  const workers = await openWorkers(work);
  try {
    for (const [name, { onlyAsked, ...each }] of Object.entries(cases)) {
      if (names.length > 0 ? !names.includes(name) : onlyAsked === true) continue;
      const others = await findOtherTools(folder, each.shape.platforms !== undefined);
      const tools = new Map([['ours', each.pool === true ? workers.pool : workers.cold], ...others]);
      await measureCase(folder, name, { ...each, rounds: Number(fewer ?? each.rounds) }, tools);
    }
  } finally {
    await workers.close();
    await rm(work, { recursive: true, force: true });
  }
}
