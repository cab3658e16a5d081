import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createLogger } from '#shared/base/telemetry';
import { withWorker } from './worker-program.ts';

const log = createLogger({ name: 'unit', level: 'silent' });
let folder: string | undefined;
afterEach(async () => {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  folder = undefined;
});

/** Runs the program on a job that is not there and resolves with its exit code and what it reported. */
async function outcomeOf(
  command: readonly string[],
  work: string,
): Promise<{ code: unknown; result: unknown }> {
  const [file = '', ...args] = command;
  const env = {
    PATH: process.env.PATH,
    ARC_CONFIG_DIR: path.join(work, 'none'),
    ARC_RESULT_FILE: path.join(work, 'result.json'),
    ARC_TERMINATION_LOG: path.join(work, 'log'),
  };
  const code = await new Promise((resolve) => {
    execFile(file, args, { env }, (caught) => resolve(caught?.code ?? 0));
  });
  return { code, result: JSON.parse(await readFile(env.ARC_RESULT_FILE, 'utf8')) };
}

describe('withWorker', () => {
  it('is one file that runs as the worker does', async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'arc-worker-'));
    const { programs, prepared } = await withWorker({}, path.join(folder, 'compiled'), log);
    const [command = []] = Object.values(programs);
    expect(prepared).toBe(command);
    expect(command.at(-1)).toBe(path.join(folder, 'compiled/transfer-worker.mjs'));
    expect(await outcomeOf(command, folder)).toMatchObject({
      code: 14,
      result: { outcome: 'failed', reason: 'config' },
    });
  });

  it('falls back to the sources where it cannot be bundled', async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'arc-worker-'));
    const [command = []] = Object.values((await withWorker({}, '/dev/null/compiled', log)).programs);
    expect(command.at(-1)).toMatch(/functions\/transfer-worker\/main\.ts$/);
    expect(await outcomeOf(command, folder)).toMatchObject({ code: 14 });
  });

  it('bundles nothing where another program stands for its images', async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'arc-worker-'));
    const given = { 'artifact-conduit:*': ['/bin/true'], 'other:*': ['/bin/false'] };
    expect(await withWorker(given, path.join(folder, 'compiled'), log)).toEqual({ programs: given });
    expect(await readdir(folder)).toEqual([]);
  });
});
