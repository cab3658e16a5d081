import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { runWorker } from '../worker.ts';

/** The volumes of a pod that moves an image through quarantine, and the worker's steps on them. */
export interface QuarantinePod {
  folder: string;
  quarantine: string;
  images: string;
  reports: string;
  order(job: object): Promise<void>;
  step(name: 'quarantine' | 'promote', env?: Record<string, string>): Promise<Step>;
  remove(): Promise<void>;
}

export interface Step {
  exitCode: number;
  /** The last line that the worker printed. */
  outcome: Record<string, unknown>;
}

export async function quarantinePod(): Promise<QuarantinePod> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'arc-quarantine-'));
  const inFolder = (name: string) => path.join(folder, name);
  for (const each of ['config', 'work', 'quarantine', 'reports']) await mkdir(inFolder(each));
  return {
    folder,
    quarantine: inFolder('quarantine'),
    images: inFolder('quarantine/images'),
    reports: inFolder('reports'),
    order: (job) => writeFile(inFolder('config/job.json'), JSON.stringify(job)),
    async step(ARC_STEP, env = {}) {
      const lines: string[] = [];
      const exitCode = await runWorker({
        env: {
          ARC_STEP,
          ARC_CONFIG_DIR: inFolder('config'),
          ARC_WORK_DIR: inFolder('work'),
          ARC_RESULT_FILE: inFolder('work/result.json'),
          ARC_TERMINATION_LOG: inFolder('termination'),
          ARC_QUARANTINE_DIR: inFolder('quarantine'),
          ARC_REPORTS_DIR: inFolder('reports'),
          ARC_RETRY_ATTEMPTS: '1',
          ...env,
        },
        stop: new AbortController().signal,
        print: (line) => lines.push(line),
        warn: (line) => lines.push(line),
      });
      return { exitCode, outcome: JSON.parse(lines.at(-1) ?? '{}') };
    },
    remove: () => rm(folder, { recursive: true }),
  };
}
