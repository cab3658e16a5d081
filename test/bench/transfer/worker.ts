import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildFunctions } from '../../../scripts/build/bundle.ts';
import { runChild } from '../../../shared/embedded/executor/child.ts';
import { inheritedEnvironment } from '../../../shared/embedded/executor/run-folder.ts';
import { createSpares } from '../../../shared/embedded/executor/spares.ts';
import { usageOf } from '../process-usage.ts';
import { type Cost, measure, type Tool } from './measured-program.ts';

/** Our worker as it is in the image: a process for each copy, or one that the standalone has started ahead. */
export interface Workers {
  cold: Tool;
  pool: Tool;
  close(): Promise<void>;
}

const startMs = 1500;
const sampleMs = 10;

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
  const command = [process.execPath, bundle.file];
  const writeJob = (from: string, to: string) =>
    writeFile(path.join(config, 'job.json'), JSON.stringify(jobOf(from, to)));
  const spares = createSpares(command, process.env);
  return {
    async cold(from, to, signal) {
      await writeJob(from, to);
      return measure(command, { env, ...(signal && { signal }) });
    },
    async pool(from, to) {
      await writeJob(from, to);
      spares.warm();
      // Started ahead means: it has started, and waits.
      await sleep(startMs);
      const spare = spares.take(command, env);
      if (spare?.pid === undefined) throw new Error('no worker was started ahead');
      const watched = watch(spare.pid);
      const begun = performance.now();
      const { signal } = new AbortController();
      const child = { command, cwd: work, env, record: work, spare, signal, graceMs: 0 };
      const { exitCode, tail } = await runChild(child);
      const seconds = (performance.now() - begun) / 1000;
      if (exitCode !== 0) throw new Error(`the worker failed: ${tail}`);
      return { seconds, ...(await watched) };
    },
    async close() {
      // Idle ones keep nobody alive, not even who waits for their end.
      const alive = setInterval(() => undefined, startMs);
      await spares.close();
      clearInterval(alive);
    },
  };
}

/** What a process uses from now to its end, as often as it is looked at. */
async function watch(pid: number): Promise<Omit<Cost, 'seconds'>> {
  const first = await usageOf(pid);
  let last = first;
  for (let found: typeof first | undefined = first; found !== undefined; ) {
    last = found.peakMebibytes > 0 ? found : last;
    await sleep(sampleMs);
    found = await usageOf(pid).catch(() => undefined);
  }
  return { cpuSeconds: last.cpuSeconds - first.cpuSeconds, peakMebibytes: last.peakMebibytes };
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
