import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildFunctions } from '../../../scripts/build/bundle.ts';
import { freePorts } from '../../fixtures/program.ts';
import { bundleBareHono } from '../bare-hono/bundle.ts';
import { usageOf } from '../measure/process-usage.ts';
import { median, progress, report } from '../measure/report.ts';

const rounds = 7;
const longestStartMs = 60_000;

interface Start {
  milliseconds: number;
  cpuMilliseconds: number;
  mebibytes: number;
}

/**
 * Each function as it is in the image, from the start of its process to its first answer of readiness, beside a bare hono server
 * in the same round.
 */
export async function benchStartUp(): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'arc-bench-'));
  try {
    const [bundles, bare] = await Promise.all([buildFunctions(folder), bundleBareHono(folder)]);
    const functions = [];
    for (const bundle of bundles)
      if (existsSync(path.join('functions', bundle.name, 'func.yaml'))) functions.push(bundle);
    const starts = new Map<string, Start[]>();
    for (let round = 0; round < rounds; round += 1)
      for (const { name, file } of [bare, ...functions]) {
        progress(`start-up: ${name}, round ${round + 1} of ${rounds}`);
        starts.set(name, [...(starts.get(name) ?? []), await start(file)]);
      }
    const middle = (name: string, field: keyof Start) =>
      median((starts.get(name) ?? []).map((each) => each[field]));
    const units = { milliseconds: 'ms', cpuMilliseconds: 'ms', mebibytes: 'MiB' } as const;
    const cases = { milliseconds: 'ready', cpuMilliseconds: 'CPU', mebibytes: 'RSS' } as const;
    for (const { name } of functions)
      for (const field of ['milliseconds', 'cpuMilliseconds', 'mebibytes'] as const) {
        const [ours, theirs] = [middle(name, field), middle(bare.name, field)];
        const measured = { n: rounds, ours, theirs, unit: units[field], less: true };
        report({ bench: 'start-up', case: `${name} ${cases[field]}`, ...measured });
      }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function start(file: string): Promise<Start> {
  const [port] = await freePorts(1);
  const manifest = createRequire(import.meta.url).resolve('node/package.json');
  const node = path.join(path.dirname(manifest), 'bin', 'node');
  const env = { PORT: String(port), NODE_ENV: 'production', KUBERNETES_SERVICE_HOST: '127.0.0.1' };
  const begun = performance.now();
  const child = spawn(node, [file], { env, stdio: 'ignore' });
  try {
    await once(child, 'spawn');
    while (!(await isReady(`http://127.0.0.1:${port}/health/readiness`))) {
      if (child.exitCode !== null) throw new Error(`${file} ended with ${child.exitCode} instead of serving`);
      if (performance.now() - begun > longestStartMs) throw new Error(`${file} does not become ready`);
      await sleep(2);
    }
    const milliseconds = performance.now() - begun;
    const pid = child.pid ?? 0;
    const cpuMilliseconds = await cpuOf(pid);
    return { milliseconds, cpuMilliseconds, mebibytes: (await usageOf(pid)).mebibytes };
  } finally {
    const ended = once(child, 'exit');
    if (child.exitCode === null && child.kill('SIGKILL')) await ended;
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).status === 200;
  } catch {
    // Nothing listens yet; the caller has the deadline.
    return false;
  }
}

/** CPU time of all threads there are, finer than the ticks of /proc/<pid>/stat. */
async function cpuOf(pid: number): Promise<number> {
  let nanoseconds = 0;
  for (const thread of await readdir(`/proc/${pid}/task`))
    nanoseconds += Number((await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8')).split(' ')[0]);
  return nanoseconds / 1e6;
}
