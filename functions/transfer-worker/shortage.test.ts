import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Registry, seedImage, startRegistry } from '#shared/local';

const worker = new URL('./worker.ts', import.meta.url).href;
let folder = '';
let source: Registry;
let destination: Registry;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-shortage-'));
  [source, destination] = [await startRegistry(), await startRegistry()];
});
afterEach(async () => {
  await Promise.all([source.close(), destination.close()]);
  await rm(folder, { recursive: true });
});

/** Runs the worker again and again in a process that has these numbers of file descriptors to spare, and prints the outcome of each run. */
const program = `
  import fs from 'node:fs';
  const { runWorker } = await import(${JSON.stringify(worker)});
  const outcomes = [];
  // Steps come first, the result last.
  const run = async () => {
    let last = '';
    const print = (line) => { last = line; };
    await runWorker({ env: process.env, stop: new AbortController().signal, warn: () => {}, print });
    outcomes.push(JSON.parse(last));
  };
  await run();
  for (let spare = 0; spare <= 24; spare += 1) {
    const held = [];
    try {
      for (;;) held.push(fs.openSync('/dev/null'));
    } catch {}
    for (const each of held.splice(0, spare)) fs.closeSync(each);
    const before = outcomes.length;
    await run();
    outcomes[before] = { spare, ...outcomes[before] };
    for (const each of held) fs.closeSync(each);
  }
  await run();
  console.log(JSON.stringify(outcomes));
  process.exit(0);
`;

interface Ended {
  outcome: string;
  reason?: string;
  message?: string;
}

describe('a worker without file descriptors to spare', () => {
  it('fails as retryable wherever it lacks one, and moves the image once it has some again', async () => {
    await seedImage(source, 'team/app', '1.0');
    const end = (name: string, { url }: Registry) => ({ name, type: 'oci', remoteURL: url });
    const job = {
      artifact: { type: 'oci', spec: { image: 'team/app:1.0' } },
      source: end('src', source),
      destination: end('dst', destination),
      verify: true,
    };
    await mkdir(path.join(folder, 'config'));
    await writeFile(path.join(folder, 'config', 'job.json'), JSON.stringify(job));
    const shell = ['-c', 'ulimit -n 128 && exec "$@"', 'sh'];
    const node = [process.execPath, '--input-type=module', '-e', program];
    const { stdout } = await promisify(execFile)('/bin/sh', [...shell, ...node], {
      env: {
        ARC_CONFIG_DIR: path.join(folder, 'config'),
        ARC_WORK_DIR: path.join(folder, 'work'),
        ARC_RESULT_FILE: path.join(folder, 'result.json'),
        ARC_TERMINATION_LOG: path.join(folder, 'termination'),
        ARC_RETRY_ATTEMPTS: '1',
      },
    });
    const outcomes = JSON.parse(stdout) as Ended[];
    const failures = outcomes.filter(({ outcome }) => outcome === 'failed');
    expect(failures.filter(({ reason }) => reason !== 'retryable')).toEqual([]);
    // The first without a descriptor for its job, others without one for a folder or a connection.
    expect(failures.length).toBeGreaterThan(2);
    expect(failures[0]?.message).toMatch(/Cannot read the job: EMFILE.*ulimit -n/);
    expect(outcomes[0]).toMatchObject({ outcome: 'succeeded' });
    expect(outcomes.at(-1)).toMatchObject({ outcome: 'succeeded' });
  });
});
