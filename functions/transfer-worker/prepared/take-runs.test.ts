import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Registry, seedImage, startRegistry } from '#shared/local';
import { eventually } from '../../../shared/base/testing/eventually.ts';
import { workerCommand } from '../testing/worker-command.ts';

const account = { username: 'bob', password: 'hunter22-secret' };
const [program = '', ...args] = await workerCommand();
let folder = '';
let source: Registry;
let destination: Registry;
let child: ChildProcess & { stdin: NonNullable<ChildProcess['stdin']> };
/** What it has printed on both streams and no run was given yet. */
let printed: string[];
let ended: Promise<number | null>;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-runs-'));
  source = await startRegistry(account);
  destination = await startRegistry({ auth: 'none' });
  await seedImage(source, 'team/app', '1.0', { layers: 1, layerBytes: 4096 });
  const env = { ARC_PREPARED: '1' };
  const started = spawn(program, args, { env, stdio: 'pipe' });
  child = started;
  // What is told to one that has ended breaks the pipe.
  child.stdin.on('error', () => undefined);
  printed = ['', ''];
  for (const [index, stream] of [started.stdout, started.stderr].entries())
    stream.on('data', (chunk: Buffer) => {
      printed[index] += chunk.toString();
    });
  ended = once(started, 'close').then(([code]) => code as number | null);
});
afterEach(async () => {
  child.kill('SIGKILL');
  await ended;
  await Promise.all([source.close(), destination.close()]);
  await rm(folder, { recursive: true });
});

interface Job {
  credentials?: object;
  image?: string;
  mark?: string;
  env?: Record<string, string>;
}

/** Tells it of a run in a folder of its own, called `name`. */
async function tell(name: string, { credentials, image = 'team/app:1.0', mark, env = {} }: Job) {
  const cwd = path.join(folder, name);
  await mkdir(cwd);
  const job = {
    artifact: { type: 'oci', spec: { image, override: `mirror/${name}` } },
    source: { name: 'src', type: 'oci', remoteURL: source.url, credentials },
    destination: { name: 'dst', type: 'oci', remoteURL: destination.url },
  };
  await writeFile(path.join(cwd, 'job.json'), JSON.stringify(job));
  const places = { ARC_CONFIG_DIR: cwd, ARC_WORK_DIR: cwd, ARC_RESULT_FILE: 'result.json' };
  const files = { ARC_TERMINATION_LOG: 'log', ARGO_PROGRESS_FILE: 'progress' };
  const run = { env: { ...places, ...files, ARC_RETRY_ATTEMPTS: '1', ...env }, cwd, mark };
  child.stdin.write(`${JSON.stringify(run)}\n`);
}

/** Does a run to its end; resolves with its exit code, what it printed and its result. */
async function run(name: string, job: Job) {
  const mark = `mark of ${name}`;
  await tell(name, { ...job, mark });
  const line = new RegExp(`\0${mark} (\\d+)\n$`);
  await eventually(`the end of ${name}`, 15_000, () => {
    for (const text of printed) expect(text).toMatch(line);
  });
  const output = printed.map((text) => text.replace(line, ''));
  const code = Number(line.exec(printed[0] ?? '')?.[1]);
  printed = ['', ''];
  return { code, output, result: JSON.parse(await readFile(path.join(folder, name, 'result.json'), 'utf8')) };
}

describe('a prepared process', () => {
  it('does runs sequentially, each with its own result and output', async () => {
    for (const name of ['one', 'two', 'three']) {
      const { code, output, result } = await run(name, { credentials: account });
      expect({ code, result }).toMatchObject({ code: 0, result: { outcome: 'succeeded' } });
      // Steps come first, the result last.
      expect(output[0]?.split('\n').slice(-2)).toEqual([JSON.stringify(result), '']);
      expect(output[1]).toBe('');
      expect(await readFile(path.join(folder, name, 'progress'), 'utf8')).toMatch(/^(\d+)\/\1\n$/);
      expect(destination.contents.get(`mirror/${name}`)?.tags.get('1.0')).toBe(result.digest);
    }
  });

  it('keeps neither credentials nor settings of one run for the next', async () => {
    await run('one', { credentials: account, env: { ARC_MAX_BYTES: '100000000' } });
    source.requests.length = 0;
    const second = await run('two', {});
    expect(second).toMatchObject({ code: 13, result: { outcome: 'failed', reason: 'auth' } });
    expect(source.requests.length).toBeGreaterThan(0);
    expect(source.requests.every(({ status }) => status === 401)).toBe(true);
    expect(await readFile(path.join(folder, 'two', 'log'), 'utf8')).toBe(second.result.message);
    const third = await run('three', { credentials: account, env: { ARC_MAX_BYTES: '10' } });
    expect(third).toMatchObject({ code: 11, result: { reason: 'permanent' } });
    const fourth = await run('four', { credentials: account });
    expect(fourth).toMatchObject({ code: 0 });
    const odd = await run('five', { credentials: account, env: { ARC_RETRY_ATTEMPTS: 'many' } });
    expect(odd).toMatchObject({ code: 14, result: { reason: 'config' } });
    expect(await run('six', { credentials: account })).toMatchObject({ code: 0 });
  });

  it('masks the secrets of the current run', async () => {
    await run('one', { credentials: account });
    const wrong = { username: 'bob', password: 'another-secret' };
    const { code, output } = await run('two', { credentials: wrong });
    expect(code).toBe(13);
    for (const secret of [account.password, wrong.password]) expect(output.join('')).not.toContain(secret);
  });

  it('leaves the working directory of a finished run', async () => {
    await run('one', { credentials: account });
    await rm(path.join(folder, 'one'), { recursive: true });
    expect(await run('two', { credentials: account })).toMatchObject({ code: 0 });
  });

  it('exits after a run without a mark, with its exit code', async () => {
    await run('one', { credentials: account });
    await tell('two', { credentials: account, image: 'team/none:1' });
    expect(await ended).toBe(11);
  });

  it('exits after a run that was stopped', async () => {
    source.faults.add({ method: 'GET', path: /blobs/, fault: { kind: 'hang' } });
    await tell('one', { credentials: account, mark: 'x' });
    await eventually('the first blob', 15_000, () => expect(source.count('GET', /blobs/)).toBeGreaterThan(0));
    child.kill('SIGTERM');
    expect(await ended).toBe(143);
    expect(printed[0]).toContain('SIGTERM');
    expect(printed.join('')).not.toContain('\0');
  });

  it('exits when stopped between two runs, and not as if the next one had succeeded', async () => {
    await run('one', { credentials: account });
    child.kill('SIGTERM');
    await tell('two', { credentials: account, mark: 'x' }).catch(() => undefined);
    // A busy machine may show it the run before the signal: that run is stopped then.
    expect([143, 10]).toContain(await ended);
    expect(printed.join('')).not.toContain('\0');
  });

  it('exits at once when its parent is gone, during a run or not', async () => {
    await run('one', { credentials: account });
    source.faults.add({ fault: { kind: 'hang' } });
    const before = source.requests.length;
    await tell('two', { credentials: account, mark: 'x' });
    await eventually('a request', 15_000, () => expect(source.requests.length).toBeGreaterThan(before));
    child.stdin.end();
    expect(await ended).toBe(1);
  });
});
