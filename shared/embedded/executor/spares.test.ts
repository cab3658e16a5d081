import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { recordName, runChild } from './child.ts';
import { createSpares, type Spares } from './spares.ts';

/** As the worker does it: takes one line, becomes the run, and says what it found. */
const program = `
  let text = '';
  process.stdin.on('data', (chunk) => {
    text += chunk;
    if (!text.includes('\\n')) return;
    const { env, cwd } = JSON.parse(text);
    process.chdir(cwd);
    const record = JSON.parse(require('fs').readFileSync('${recordName}', 'utf8'));
    console.log(JSON.stringify({ env, cwd: process.cwd(), recorded: record.pid === process.pid, own: Object.keys(process.env) }));
    if (env.WAIT) setInterval(() => {}, 1000); else process.exit(3);
  }).on('end', () => process.exit(0));`;
const command = [process.execPath, '-e', program];
let folder = '';
let spares: Spares;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-spares-'));
  spares = createSpares(command, { PATH: process.env.PATH, SECRET: 'of the executor' });
});
afterEach(async () => {
  await spares.close();
  await rm(folder, { recursive: true });
});

const never = new AbortController().signal;
const run = (env: Record<string, string>, signal = never) =>
  runChild({
    command: ['/bin/false'],
    spare: spares.take(command, env),
    cwd: folder,
    env,
    record: folder,
    signal,
    graceMs: 50,
  });

describe('a process started ahead', () => {
  it('takes one run: its environment, its folder, its record, its exit code', async () => {
    spares.warm();
    const { exitCode, tail } = await run({ RUN: 'one' });
    expect(exitCode).toBe(3);
    const { own, ...seen } = JSON.parse(tail);
    expect(seen).toEqual({ env: { RUN: 'one' }, cwd: folder, recorded: true });
    expect(own).toContain('ARC_PREPARED');
    expect(own).not.toContain('SECRET');
  });

  it('is another one for each run', async () => {
    spares.warm();
    const pids = new Set<number>();
    for (let round = 0; round < 3; round += 1) {
      expect((await run({ RUN: String(round) })).exitCode).toBe(3);
      pids.add(JSON.parse(await readFile(path.join(folder, recordName), 'utf8')).pid);
    }
    expect(pids.size).toBe(3);
  });

  it('is stopped as any other', async () => {
    spares.warm();
    const control = new AbortController();
    const ended = run({ WAIT: '1' }, control.signal);
    control.abort();
    expect((await ended).exitCode).toBe(143);
  });

  it('is not for other programs, nor for variables that Node reads when it starts', async () => {
    spares.warm();
    expect(spares.take([...command], {})).toBeUndefined();
    expect(spares.take(command, { NODE_EXTRA_CA_CERTS: '/ca.pem' })).toBeUndefined();
    const child = spares.take(command, { HTTPS_PROXY: 'http://proxy' });
    child?.stdin.end();
    expect(child).toBeDefined();
  });

  it('is none where nothing was started, or it could not be', async () => {
    expect(spares.take(command, {})).toBeUndefined();
    const absent = [path.join(folder, 'absent')];
    const none = createSpares(absent, {});
    none.warm();
    expect(none.take(absent, {})).toBeUndefined();
    await none.close();
  });

  it('is gone after the close', async () => {
    const file = path.join(folder, 'pid');
    const script = `require('fs').writeFileSync(${JSON.stringify(file)}, String(process.pid)); setInterval(() => {}, 1000)`;
    const waiting = [process.execPath, '-e', script];
    const alive = createSpares(waiting, {});
    alive.warm();
    const pid = await vi.waitFor(async () => {
      const text = await readFile(file, 'utf8');
      expect(text).not.toBe('');
      return Number(text);
    }, 15_000);
    await alive.close();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    alive.warm();
    expect(alive.take(waiting, {})).toBeUndefined();
  });
});
