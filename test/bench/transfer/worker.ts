import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildFunctions } from '../../../scripts/build/bundle.ts';
import { workerOptions } from '../../../scripts/standalone/worker-program.ts';
import { runChild } from '../../../shared/local/executor/processes/child.ts';
import { inheritedEnvironment } from '../../../shared/local/executor/processes/inherited-environment.ts';
import { createWorkers } from '../../../shared/local/executor/processes/workers.ts';
import { usageOf } from '../measure/process-usage.ts';
import { type Cost, measure, type Tool } from './measured-program.ts';

/** Our worker as it is in the image: a process for each copy, or one of the standalone that does one after the other. */
export interface Workers {
  cold: Tool;
  /** As `cold`, while the destination hashes the blobs. */
  unhashed: Tool;
  pool: Tool;
  /** Does one job in a process of its own. */
  run(job: object, signal?: AbortSignal): Promise<Cost>;
  /** Does the jobs one after the other in processes of the pool, whose starts are in the CPU time. */
  runAll(jobs: readonly object[]): Promise<Cost>;
  close(): Promise<void>;
}

const startMs = 1500;

export async function openWorkers(work: string): Promise<Workers> {
  const bundles = await buildFunctions(path.join(work, 'bundles'));
  const bundle = bundles.find(({ name }) => name === 'transfer-worker');
  if (!bundle) throw new Error('there is no bundle of the transfer-worker');
  const config = path.join(work, 'config');
  await mkdir(config);
  const result = path.join(work, 'result.json');
  const inherited = inheritedEnvironment(process.env);
  const env = {
    ...inherited,
    ARC_CONFIG_DIR: config,
    ARC_WORK_DIR: path.join(work, 'blobs'),
    ARC_RESULT_FILE: result,
  };
  const command = [process.execPath, ...workerOptions, bundle.file];
  const writeJob = (job: object) => writeFile(path.join(config, 'job.json'), JSON.stringify(job));
  const workers = createWorkers({ command, outer: process.env, most: 1 });

  async function run(job: object, signal?: AbortSignal, more: Record<string, string> = {}): Promise<Cost> {
    await writeJob(job);
    return measure(command, { env: { ...env, ...more }, ...(signal && { signal }) });
  }

  /** Does a job in the process that waits, or in a new one. Usage is that of the process so far. */
  async function runPooled(job: object) {
    await writeJob(job);
    const worker = workers.take(command, env);
    if (worker?.pid === undefined) throw new Error('no worker is there');
    const { pid } = worker;
    const before = await usageOf(pid);
    const begun = performance.now();
    const { signal } = new AbortController();
    let after = before;
    const giveBack = worker.giveBack.bind(worker);
    const watched = {
      ...worker,
      giveBack: async (isGood: boolean) => {
        // It may have ended, as it does after many runs.
        after = await usageOf(pid).catch(() => before);
        await giveBack(isGood);
      },
    };
    const child = { command, cwd: work, env, record: work, worker: watched, signal, graceMs: 0 };
    const { exitCode, tail } = await runChild(child);
    if (exitCode !== 0) throw new Error(`the worker failed: ${tail}`);
    return { pid, before, after, seconds: (performance.now() - begun) / 1000 };
  }

  return {
    cold: (from, to, signal) => run(jobOf(from, to), signal),
    unhashed: (from, to, signal) => run(jobOf(from, to), signal, { ARC_BLOB_DIGESTS: 'destination' }),
    async pool(from, to) {
      workers.warm();
      // It has started, and waits.
      await sleep(startMs);
      const { before, after, seconds } = await runPooled(jobOf(from, to));
      const cpuSeconds = after.cpuSeconds - before.cpuSeconds;
      return { seconds, cpuSeconds, peakMebibytes: after.peakMebibytes };
    },
    run,
    async runAll(jobs) {
      const begun = performance.now();
      const cpuOf = new Map<number, number>();
      let peakMebibytes = 0;
      for (const job of jobs) {
        const { pid, after } = await runPooled(job);
        cpuOf.set(pid, after.cpuSeconds);
        peakMebibytes = Math.max(peakMebibytes, after.peakMebibytes);
      }
      const seconds = (performance.now() - begun) / 1000;
      const cpuSeconds = [...cpuOf.values()].reduce((sum, each) => sum + each, 0);
      return { seconds, cpuSeconds, peakMebibytes };
    },
    async close() {
      // Idle ones keep nobody alive, not even who waits for their end.
      const alive = setInterval(() => undefined, startMs);
      await workers.close();
      clearInterval(alive);
    },
  };
}

/** Copies an image, or a repository with all of its tags where `from` has no tag. */
function jobOf(from: string, to: string): object {
  const end = (reference: string) => {
    const slash = reference.indexOf('/');
    const remoteURL = `http://${reference.slice(0, slash)}`;
    return { endpoint: { name: 'bench', type: 'oci', remoteURL }, image: reference.slice(slash + 1) };
  };
  const [source, destination] = [end(from), end(to)];
  const { image } = source;
  const spec = image.includes(':') ? { image, override: destination.image } : { image, tags: { match: '*' } };
  return {
    artifact: { type: 'oci', spec },
    source: source.endpoint,
    destination: destination.endpoint,
  };
}
