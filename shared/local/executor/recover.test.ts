import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { recordName } from './processes/child.ts';
import { startTimeOf } from './processes/processes.ts';
import { recoverRuns } from './recover.ts';

const log = pino({ level: 'silent' });
let folder: string;
const pids: number[] = [];
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'recover-'));
});
afterEach(async () => {
  for (const pid of pids.splice(0)) if (await startTimeOf(pid)) process.kill(-pid, 'SIGKILL');
  await rm(folder, { recursive: true });
});

/** A process without a pipe to its parent, like one that outlived its executor. */
async function survivor(script: string, run: string): Promise<{ pid: number; ended: Promise<unknown> }> {
  const child = spawn(process.execPath, ['-e', `${script}; console.log('up'); setInterval(() => {}, 1000)`], {
    detached: true,
    env: { ARC_RUN: run },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const pid = child.pid ?? 0;
  pids.push(pid);
  return { pid, ended };
}
async function record(run: string, mark: object | string): Promise<void> {
  await mkdir(path.join(folder, run), { recursive: true });
  await writeFile(path.join(folder, run, recordName), typeof mark === 'string' ? mark : JSON.stringify(mark));
}

describe('recoverRuns', () => {
  it('ends survivors, also those that ignore TERM, and clears the folder', async () => {
    const one = await survivor('', 'a.0');
    const two = await survivor("process.on('SIGTERM', () => {})", 'b.0');
    await record('a.0', { pid: one.pid, startTime: await startTimeOf(one.pid) });
    await record('b.0', { pid: two.pid, startTime: await startTimeOf(two.pid) });
    await recoverRuns(folder, 100, log);
    await Promise.all([one.ended, two.ended]);
    expect(await readdir(folder)).toEqual([]);
  });

  it.runIf(process.platform === 'linux')('ends a group whose leader is gone', async () => {
    const leader = `require('child_process').spawn(process.execPath,
      ['-e', "console.log('up'); setInterval(() => {}, 1000)"], { stdio: ['ignore', 'inherit', 'ignore'] })`;
    const child = spawn(process.execPath, ['-e', leader], {
      detached: true,
      env: { ARC_RUN: 'c.0' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const closed = new Promise((resolve) => child.stdout.once('close', resolve));
    await new Promise((resolve) => child.stdout.once('data', resolve));
    const pid = child.pid ?? 0;
    const startTime = (await startTimeOf(pid)) ?? '';
    const exited = new Promise((resolve) => child.once('exit', resolve));
    process.kill(pid, 'SIGKILL');
    await exited;
    await record('c.0', { pid, startTime });
    await recoverRuns(folder, 5_000, log);
    await closed;
    expect(await readdir(folder)).toEqual([]);
  });

  it('leaves another process alone that was given the same id', async () => {
    const foreign = await survivor('', 'somebody else');
    await record('d.0', { pid: foreign.pid, startTime: 'another time' });
    await recoverRuns(folder, 100, log);
    expect(await startTimeOf(foreign.pid)).toBeDefined();
  });

  it('makes the folder, and passes over broken records', async () => {
    await record('e.0', '{"pid":');
    await record('f.0', { pid: 1, startTime: '0' });
    await mkdir(path.join(folder, 'g.0'));
    await recoverRuns(folder, 100, log);
    await recoverRuns(path.join(folder, 'new'), 100, log);
    expect(await readdir(folder)).toEqual(['new']);
  });
});
