import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { recordName, runChild } from './child.ts';
import { createWorkers, type Workers } from './workers.ts';

/** As the worker does it: takes one line after the other, becomes the run, and says what it found. */
const program = `
  const fs = require('fs');
  let text = '', count = 0;
  process.stdin.on('data', (chunk) => {
    text += chunk;
    if (!text.includes('\\n')) return;
    const { env, cwd, mark } = JSON.parse(text);
    text = '';
    process.chdir(cwd);
    const record = JSON.parse(fs.readFileSync('${recordName}', 'utf8'));
    count += 1;
    console.log(JSON.stringify({ env, cwd: process.cwd(), recorded: record.pid === process.pid, pid: process.pid, count, own: Object.keys(process.env) }));
    console.error('said by ' + env.RUN);
    if (env.MUCH) for (let line = 0; line < 3000; line += 1) (line % 2 ? process.stdout : process.stderr).write(env.RUN + ' line ' + line + '\\n');
    if (env.WAIT) return setInterval(() => {}, 1000);
    if (env.EXIT) process.exit(Number(env.EXIT));
    for (const stream of [process.stderr, process.stdout]) stream.write('\\0' + mark + ' 3\\n');
    if (env.LATE) process.stderr.write('of nobody');
  }).on('end', () => process.exit(0));`;
const command = [process.execPath, '-e', program];
const outer = { PATH: process.env.PATH, SECRET: 'of the executor' };
let folder = '';
let workers: Workers;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-workers-'));
  workers = createWorkers({ command, outer, most: 2 });
});
afterEach(async () => {
  await workers.close();
  await rm(folder, { recursive: true });
});

const never = new AbortController().signal;
async function run(env: Record<string, string>, signal = never, cwd = folder) {
  let output = '';
  const result = await runChild({
    command: ['/bin/false'],
    worker: workers.take(command, env),
    live: () => (chunk) => {
      output += chunk.toString();
    },
    cwd,
    env,
    record: cwd,
    signal,
    graceMs: 50,
  });
  const seen = /^{.*}$/m.exec(output)?.[0] ?? '{}';
  return { ...result, output, seen: JSON.parse(seen) as { pid: number; count: number; own: string[] } };
}
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('a worker process', () => {
  it('takes a run: its environment, its folder, its record, its exit code', async () => {
    const { exitCode, seen } = await run({ RUN: 'one' });
    expect(exitCode).toBe(3);
    expect(seen).toMatchObject({ env: { RUN: 'one' }, cwd: folder, recorded: true, count: 1 });
    expect(seen.own).toContain('ARC_PREPARED');
    expect(seen.own).not.toContain('SECRET');
  });

  it('takes the next one when that has ended, and one that was started ahead the first', async () => {
    workers.warm();
    workers.warm();
    const runs = [await run({ RUN: 'one' }), await run({ RUN: 'two' }), await run({ RUN: 'three' })];
    expect(new Set(runs.map(({ seen }) => seen.pid)).size).toBe(1);
    expect(runs.map(({ seen }) => seen.count)).toEqual([1, 2, 3]);
  });

  it('prints for the run that it does: every line of it, and none of another', async () => {
    for (const name of ['one', 'two', 'three']) {
      const { output, tail } = await run({ RUN: name, MUCH: '1' });
      const lines = output.trimEnd().split('\n');
      expect(lines).toHaveLength(3002);
      expect(lines.filter((line) => line.startsWith('{') || line.includes(name))).toHaveLength(3002);
      expect(output).not.toContain('\0');
      expect(tail).toMatch(new RegExp(`${name} line 299[89]$`));
    }
  });

  it('is another one for runs at the same time', async () => {
    const runs = await Promise.all(
      ['one', 'two', 'three'].map(async (RUN) =>
        run({ RUN }, never, await mkdtemp(path.join(folder, `${RUN}-`))),
      ),
    );
    expect(new Set(runs.map(({ seen }) => seen.pid)).size).toBe(3);
    for (const [index, name] of ['one', 'two', 'three'].entries())
      expect(runs[index]?.output).toContain(`said by ${name}`);
  });

  it('does no run after one that was stopped', async () => {
    const { seen } = await run({ RUN: 'one' });
    const control = new AbortController();
    const stopped = run({ RUN: 'two', WAIT: '1' }, control.signal);
    control.abort();
    expect((await stopped).exitCode).toBe(143);
    expect(isAlive(seen.pid)).toBe(false);
    expect((await run({ RUN: 'three' })).seen.pid).not.toBe(seen.pid);
  });

  it('does no run after one at whose end it has ended itself, or was killed', async () => {
    const first = await run({ RUN: 'one', EXIT: '10' });
    expect(first.exitCode).toBe(10);
    const killed = run({ RUN: 'two', WAIT: '1' });
    const pid = await vi.waitFor(async () => {
      const { pid } = JSON.parse(await readFile(path.join(folder, recordName), 'utf8')) as { pid: number };
      expect(pid).not.toBe(first.seen.pid);
      return pid;
    }, 15_000);
    const other = run({ RUN: 'other' });
    process.kill(pid, 'SIGKILL');
    expect((await killed).exitCode).toBe(137);
    expect(await other).toMatchObject({ exitCode: 3, output: expect.stringContaining('said by other') });
  });

  it('does no run after it was killed between two', async () => {
    const { seen } = await run({ RUN: 'one' });
    process.kill(seen.pid, 'SIGKILL');
    await vi.waitFor(() => expect(isAlive(seen.pid)).toBe(false), 15_000);
    await vi.waitFor(async () => {
      expect(await run({ RUN: 'two' })).toMatchObject({ exitCode: 3, seen: { count: 1 } });
    }, 15_000);
  });

  it('does no run after it has printed what belongs to none', async () => {
    const { seen, output } = await run({ RUN: 'one', LATE: '1' });
    expect(output).not.toContain('nobody');
    await vi.waitFor(() => expect(isAlive(seen.pid)).toBe(false), 15_000);
  });

  it('is ended when nobody needs it for a while', async () => {
    workers = createWorkers({ command, outer, most: 2, idleMs: 50 });
    const { seen } = await run({ RUN: 'one' });
    await vi.waitFor(() => expect(isAlive(seen.pid)).toBe(false), 15_000);
    expect((await run({ RUN: 'two' })).exitCode).toBe(3);
  });

  it('is not for other programs, nor for variables that Node reads when it starts', async () => {
    workers.warm();
    expect(workers.take([...command], {})).toBeUndefined();
    expect(workers.take(command, { NODE_EXTRA_CA_CERTS: '/ca.pem' })).toBeUndefined();
    expect(workers.take(command, { UV_THREADPOOL_SIZE: '16' })).toBeUndefined();
    expect(await run({ RUN: 'one', HTTPS_PROXY: 'http://proxy' })).toMatchObject({ exitCode: 3 });
  });

  it('says when it cannot be started', async () => {
    const absent = [path.join(folder, 'absent')];
    const none = createWorkers({ command: absent, outer: {}, most: 2 });
    none.warm();
    const worker = none.take(absent, {});
    await expect(worker?.follow([])).rejects.toMatchObject({ code: 'InternalError' });
    await none.close();
  });

  it('that cannot be started for want of file descriptors fails its run, and nothing else', async () => {
    const script = `
      import { closeSync, openSync } from 'node:fs';
      import { runChild } from '${path.resolve(import.meta.dirname, 'child.ts')}';
      import { createWorkers } from '${path.resolve(import.meta.dirname, 'workers.ts')}';
      const command = ['/bin/true'];
      const workers = createWorkers({ command, outer: {}, most: 2 });
      const folder = ${JSON.stringify(folder)};
      const { signal } = new AbortController();
      const own = { command, cwd: folder, env: {}, record: folder, signal, graceMs: 50 };
      const open = [];
      try { for (;;) open.push(openSync('/dev/null')); } catch {}
      workers.warm();
      const failures = [];
      try { workers.take(command, {}); } catch (caught) { failures.push(caught.message); }
      await runChild(own).catch((caught) => failures.push(caught.message));
      for (const one of open) closeSync(one);
      console.log(JSON.stringify([failures, (await runChild(own)).exitCode]));`;
    const limited = `ulimit -n 64 && exec "$0" --input-type=module -e "$1"`;
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', limited, process.execPath, script]);
    const why = expect.stringContaining('too many open files');
    expect(JSON.parse(stdout)).toEqual([[why, why], 0]);
  });

  it('is gone after the close, and so is one that was at work then', async () => {
    const { seen } = await run({ RUN: 'one' });
    const late = run({ RUN: 'two' });
    await workers.close();
    expect((await late).exitCode).toBe(3);
    expect(isAlive(seen.pid)).toBe(false);
    workers.warm();
    expect(workers.take(command, {})).toBeUndefined();
  });
});
