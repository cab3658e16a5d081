import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { textDigest } from '#shared/domain';
import { type Registry, seedImage, startRegistry } from '#shared/local';
import { workerCommand } from './testing/worker-command.ts';

const password = 'hunter22-secret';
const account = { username: 'bob', password };
const worker = await workerCommand();
let folder = '';
let source: Registry;
let destination: Registry;
const children: ChildProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-worker-'));
  source = await startRegistry(account);
  destination = await startRegistry(account);
});
afterEach(async () => {
  for (const child of children.splice(0)) if (child.exitCode === null) child.kill('SIGKILL');
  await Promise.all([source.close(), destination.close()]);
  await rm(folder, { recursive: true });
});

interface Run {
  image?: string;
  policy?: string;
  verify?: true;
  sourcePassword?: string;
  env?: Record<string, string>;
  /** Started by this shell line instead, `"$@"` being the worker. */
  shell?: string;
}

interface Ended {
  code: number | null;
  last: Record<string, unknown>;
  output: string;
}

async function start({
  image = 'team/app:1.0',
  policy,
  verify,
  sourcePassword = password,
  env = {},
  shell,
}: Run = {}) {
  const job = {
    artifact: { type: 'oci', spec: { image, override: 'mirror/app' } },
    source: {
      name: 'src',
      type: 'oci',
      remoteURL: source.url,
      credentials: { ...account, password: sourcePassword },
    },
    destination: { name: 'dst', type: 'oci', remoteURL: destination.url, credentials: account },
    ...(policy !== undefined && { policy }),
    ...(verify && { verify }),
  };
  await mkdir(path.join(folder, 'config'), { recursive: true });
  await writeFile(path.join(folder, 'config', 'job.json'), JSON.stringify(job));
  const command = shell === undefined ? worker : ['/bin/sh', '-c', shell, 'sh', ...worker];
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    env: {
      ARC_CONFIG_DIR: path.join(folder, 'config'),
      ARC_WORK_DIR: path.join(folder, 'work'),
      ARC_RESULT_FILE: path.join(folder, 'result.json'),
      ARC_TERMINATION_LOG: path.join(folder, 'termination'),
      ARGO_PROGRESS_FILE: path.join(folder, 'progress'),
      ARC_RETRY_ATTEMPTS: '1',
      ...env,
    },
  });
  children.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = (async (): Promise<Ended> => {
    const [code] = (await once(child, 'close')) as [number | null];
    const lines = output.trimEnd().split('\n');
    return { code, output, last: code === null ? {} : JSON.parse(lines.at(-1) || '{}') };
  })();
  return { child, ended };
}

const run = async (options: Run = {}): Promise<Ended> => (await start(options)).ended;

async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = AbortSignal.timeout(15_000);
  while (!condition()) {
    if (deadline.aborted) throw new Error(`timed out waiting for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('the worker as a process', () => {
  it('sends a blob that the destination lost again if its job has verify', async () => {
    await seedImage(source, 'team/app', '1.0');
    await run();
    const { blobs } = destination.contents.get('mirror/app') ?? {};
    const [lost = ''] = blobs?.keys() ?? [];
    blobs?.delete(lost);
    expect((await run()).last).toMatchObject({ outcome: 'succeeded', blobs: { copied: 0 } });
    expect((await run({ verify: true })).last).toMatchObject({ outcome: 'succeeded', blobs: { copied: 1 } });
    expect(blobs?.has(lost)).toBe(true);
  });

  it('copies, writes one line and the result file, and ends its progress at the total', async () => {
    const { digest } = await seedImage(source, 'team/app', '1.0');
    const { code, last } = await run();
    expect(code).toBe(0);
    expect(last).toMatchObject({
      outcome: 'succeeded',
      digest,
      referrers: 1,
      warnings: [],
      bytes: { mounted: 0 },
    });
    expect(JSON.parse(await readFile(path.join(folder, 'result.json'), 'utf8'))).toEqual(last);
    const [done, total] = (await readFile(path.join(folder, 'progress'), 'utf8')).trim().split('/');
    expect(done).toBe(total);
    expect(destination.contents.get('mirror/app')?.tags.get('1.0')).toBe(digest);
  });

  const failures: [string, Run, number, string, RegExp][] = [
    [
      'an image that does not exist',
      { image: 'team/none:1' },
      11,
      'permanent',
      /team\/none:1 does not exist in registry .*404/,
    ],
    ['wrong credentials', { sourcePassword: 'wrong-secret' }, 13, 'auth', /401 .*user "bob".*Endpoint "src"/],
    [
      'an image name that is not valid',
      { image: 'Team/App' },
      14,
      'config',
      /Team\/App.*is not a repository path/,
    ],
    [
      'a job that does not exist',
      { env: { ARC_CONFIG_DIR: '/nowhere' } },
      14,
      'config',
      /Cannot read the job: ENOENT/,
    ],
  ];

  it('moves nothing that the policy denies, with an exit code of its own', async () => {
    await seedImage(source, 'team/app', '1.0');
    const { code, last } = await run({ policy: '{"maxBytes":1000}' });
    const message = expect.stringMatching(/^Denied by policy, rule maxBytes: it has \d+ bytes/);
    const policies = [{ from: 'artifact type "oci"', digest: textDigest('{"maxBytes":1000}') }];
    expect({ code, last }).toEqual({
      code: 15,
      last: { outcome: 'failed', reason: 'denied-by-policy', message, policies },
    });
    expect(destination.count('PUT') + destination.count('POST')).toBe(0);
  });

  it('applies every policy of a job, and reports them and the one that denied', async () => {
    await seedImage(source, 'team/app', '1.0');
    const [wide, narrow] = ['{"maxBytes":1000000000}', '{"repositories":{"denied":["*/team/app"]}}'];
    const list = (...texts: string[]) =>
      JSON.stringify(texts.map((text, index) => ({ from: `Endpoint "e${index}"`, text })));
    const policies = [
      { from: 'Endpoint "e0"', digest: textDigest(wide) },
      { from: 'Endpoint "e1"', digest: textDigest(narrow) },
    ];
    const denied = await run({ policy: list(wide, narrow) });
    const message = expect.stringMatching(
      /^Denied by the policy of Endpoint "e1", rule repositories\.denied:/,
    );
    expect(denied.last).toEqual({ outcome: 'failed', reason: 'denied-by-policy', message, policies });
    expect(destination.count('PUT') + destination.count('POST')).toBe(0);
    const passed = await run({ policy: list(wide) });
    expect(passed.last).toMatchObject({ outcome: 'succeeded', policies: policies.slice(0, 1) });
  });

  it.each(failures)(
    'fails for %s with its own exit code and writes the termination log',
    async (_, options, code, reason, message) => {
      const ended = await run(options);
      expect(ended.last).toMatchObject({
        outcome: 'failed',
        reason,
        message: expect.stringMatching(message),
      });
      expect(ended.code).toBe(code);
      expect(await readFile(path.join(folder, 'termination'), 'utf8')).toBe(ended.last.message);
      for (const secret of [password, 'wrong-secret']) expect(ended.output).not.toContain(secret);
    },
  );

  it.each([
    [403, 12, 'denied'],
    [429, 10, 'retryable'],
  ])('maps status %i of the registry to exit code %i', async (status, code, reason) => {
    source.faults.add({ fault: { kind: 'status', status } });
    const ended = await run();
    expect(ended.last).toMatchObject({ reason, message: expect.stringContaining(`answered ${status}`) });
    expect(ended.code).toBe(code);
  });

  it('reports that its temporary folder is full', async () => {
    await seedImage(source, 'team/app', '1.0', { layerBytes: 3_000_000 });
    // A blob is kept in a file when its upload has to be repeated.
    destination.faults.add({ method: 'PUT', path: /uploads/, fault: { kind: 'status', status: 503 } });
    // A limit on file sizes (half a MiB) is what a full disk looks like from inside one process.
    const { code, last } = await run({
      shell: 'ulimit -f 1024; exec "$@"',
      env: { ARC_RETRY_ATTEMPTS: '6' },
    });
    expect(last).toMatchObject({
      reason: 'retryable',
      message: expect.stringMatching(/temporary folder is full.*ARC_WORK_DIR/),
    });
    expect(code).toBe(10);
  });

  it('ends in a retryable failure on SIGTERM', async () => {
    await seedImage(source, 'team/app', '1.0');
    source.faults.add({ method: 'GET', path: /blobs/, fault: { kind: 'hang' } });
    const { child, ended } = await start();
    await until(() => source.count('GET', /blobs/) > 0, 'the first blob');
    child.kill('SIGTERM');
    const { code, last } = await ended;
    expect(last).toMatchObject({ reason: 'retryable', message: expect.stringContaining('SIGTERM') });
    expect(code).toBe(143);
  });

  it('leaves no tag when it is killed, and the next run completes the copy', async () => {
    const { digest } = await seedImage(source, 'team/app', '1.0');
    destination.faults.add({ method: 'PUT', path: /manifests/, times: 1, fault: { kind: 'hang' } });
    const { child, ended } = await start();
    await until(() => destination.count('PUT', /manifests/) > 0, 'the first manifest');
    child.kill('SIGKILL');
    expect((await ended).code).toBeNull();
    expect(destination.contents.get('mirror/app')?.tags.size).toBe(0);
    const { last } = await run();
    expect(last).toMatchObject({ outcome: 'succeeded', digest, blobs: { copied: 0 } });
  });

  it('started in advance does the one run announced to it, in its own environment', async () => {
    const { digest } = await seedImage(source, 'team/app', '1.0');
    const { child, ended } = await start({ env: { ARC_PREPARED: '1', ARC_CONFIG_DIR: '/nowhere' } });
    const env = {
      ARC_CONFIG_DIR: 'config',
      ARC_WORK_DIR: path.join(folder, 'work'),
      ARC_RESULT_FILE: 'result.json',
      ARC_EXIT_WITH_PARENT: '1',
    };
    child.stdin.write(`${JSON.stringify({ env, cwd: folder })}\n`);
    expect(await ended).toMatchObject({ code: 0, last: { outcome: 'succeeded', digest } });
    expect(JSON.parse(await readFile(path.join(folder, 'result.json'), 'utf8'))).toMatchObject({ digest });
  });

  it('started in advance exits without a run when its parent is gone', async () => {
    const { child, ended } = await start({ env: { ARC_PREPARED: '1' } });
    child.stdin.end();
    expect(await ended).toMatchObject({ code: 0, output: '' });
  });

  it('exits at once when its parent is gone, with ARC_EXIT_WITH_PARENT', async () => {
    await seedImage(source, 'team/app', '1.0');
    source.faults.add({ fault: { kind: 'hang' } });
    const { child, ended } = await start({ env: { ARC_EXIT_WITH_PARENT: '1' } });
    await until(() => source.requests.length > 0, 'the first request');
    child.stdin.end();
    expect((await ended).code).toBe(1);
  });
});
