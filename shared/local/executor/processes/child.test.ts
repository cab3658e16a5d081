import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readIfThere } from '../run-folder.ts';
import { type ChildOptions, recordName, runChild } from './child.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'child-'));
});
afterEach(() => rm(folder, { recursive: true }));

const run = (script: string, over: Partial<ChildOptions> = {}) =>
  runChild({
    command: [process.execPath, '-e', script],
    cwd: folder,
    env: { PATH: process.env.PATH ?? '' },
    record: folder,
    signal: new AbortController().signal,
    graceMs: 10_000,
    ...over,
  });
const fileIs = (name: string) =>
  vi.waitFor(
    async () => {
      const text = await readIfThere(path.join(folder, name), 100);
      expect(text).toBeTruthy();
      return text ?? '';
    },
    { timeout: 15_000 },
  );
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('runChild', () => {
  it('gives exit code and output, and has put the program on record before it ran', async () => {
    const script = `
      const record = JSON.parse(require('fs').readFileSync('${recordName}', 'utf8'));
      console.log(record.pid === process.pid, typeof record.startTime); console.error('err'); process.exit(7)`;
    expect(await run(script)).toEqual({ exitCode: 7, tail: 'true string\nerr' });
  });

  it('passes arguments as they are, and no environment but what is given', async () => {
    const odd = `'; $(touch x) "&`;
    const result = await run(
      'console.log(JSON.stringify([process.argv[1], Object.keys(process.env).includes("HOME")]))',
      {
        command: [process.execPath, '-e', 'console.log(process.argv[1])', odd],
      },
    );
    expect(result.tail).toBe(odd);
    expect((await run('console.log(process.env.HOME ?? "none")')).tail).toBe('none');
  });

  it('stops it by TERM, by KILL when it will not', async () => {
    const script = `process.on('SIGTERM', () => {}); require('fs').writeFileSync('ready', 'x'); setInterval(() => {}, 1000)`;
    const control = new AbortController();
    const running = run(script, { signal: control.signal, graceMs: 50 });
    await fileIs('ready');
    control.abort();
    expect((await running).exitCode).toBe(137);
  });

  it('ends the processes that a program left behind', async () => {
    const script = `
      const { spawn } = require('child_process');
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
      require('fs').writeFileSync('grandchild', String(child.pid)); process.exit(0)`;
    expect((await run(script)).exitCode).toBe(0);
    const pid = Number(await readFile(path.join(folder, 'grandchild'), 'utf8'));
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 10_000 });
  });

  it('reports a program that cannot be started', async () => {
    expect((await run('', { command: [path.join(folder, 'none')] })).exitCode).toBe(127);
    await expect(run('', { cwd: path.join(folder, 'none') })).rejects.toMatchObject({
      code: 'InternalError',
    });
  });
});
