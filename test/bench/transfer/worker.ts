import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildFunctions } from '../../../scripts/build/bundle.ts';
import { workerOptions } from '../../../scripts/standalone/worker-program.ts';
import { runChild } from '../../../shared/local/executor/processes/child.ts';
import { inheritedEnvironment } from '../../../shared/local/executor/processes/inherited-environment.ts';
import { createWorkers } from '../../../shared/local/executor/processes/workers.ts';
import { usageOf } from '../measure/process-usage.ts';
import { measure, type Tool } from './measured-program.ts';

/** Our worker as it is in the image: a process for each copy, or one of the standalone that does one after the other. */
export interface Workers {
  cold: Tool;
  pool: Tool;
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
  const writeJob = (from: string, to: string) =>
    writeFile(path.join(config, 'job.json'), JSON.stringify(jobOf(from, to)));
  const workers = createWorkers({ command, outer: process.env, most: 1 });
  return {
    async cold(from, to, signal) {
      await writeJob(from, to);
      return measure(command, { env, ...(signal && { signal }) });
    },
    async pool(from, to) {
      await writeJob(from, to);
      workers.warm();
      // It has started, and waits.
      await sleep(startMs);
      const worker = workers.take(command, env);
      if (worker?.pid === undefined) throw new Error('no worker is there');
      const before = await usageOf(worker.pid);
      const begun = performance.now();
      const { signal } = new AbortController();
      const child = { command, cwd: work, env, record: work, worker, signal, graceMs: 0 };
      const { exitCode, tail } = await runChild(child);
      const seconds = (performance.now() - begun) / 1000;
      if (exitCode !== 0) throw new Error(`the worker failed: ${tail}`);
      const after = await usageOf(worker.pid);
      return {
        seconds,
        cpuSeconds: after.cpuSeconds - before.cpuSeconds,
        peakMebibytes: after.peakMebibytes,
      };
    },
    async close() {
      // Idle ones keep nobody alive, not even who waits for their end.
      const alive = setInterval(() => undefined, startMs);
      await workers.close();
      clearInterval(alive);
    },
  };
}

function jobOf(from: string, to: string): object {
  const end = (reference: string) => {
    const slash = reference.indexOf('/');
    const remoteURL = `http://${reference.slice(0, slash)}`;
    return { endpoint: { name: 'bench', type: 'oci', remoteURL }, image: reference.slice(slash + 1) };
  };
  const [source, destination] = [end(from), end(to)];
  return {
    artifact: { type: 'oci', spec: { image: source.image, override: destination.image } },
    source: source.endpoint,
    destination: destination.endpoint,
  };
}
