import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seedImage, startRegistry } from '#shared/local';
import { bundleInstalled } from '../../scripts/build/bundle.ts';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { collect } from '../fixtures/program.ts';
import {
  type Conduit,
  password,
  startConduit,
  type Tenant,
  username,
} from '../fixtures/standalone/conduit.ts';
import { runOnTerminal, terminalProgram } from '../fixtures/terminal/terminal.ts';

const image = { platforms: ['linux/amd64'], layers: 1, layerBytes: 32 * 1024, signature: false };

let folder: string;
let program: string;
let kubeconfig: string;
let conduit: Conduit;
let tenant: Tenant;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arcctl-'));
  [{ file: program }, conduit] = await Promise.all([bundleInstalled(folder), startConduit()]);
  kubeconfig = path.join(conduit.folder, 'state', 'kubeconfig');
  tenant = await conduit.tenant('people');
  await seedImage(conduit.source, 'good/app', '1.0', image);
  // A plan waits for Endpoints that have not been looked at.
  await tenant.settled();
});
afterAll(async () => {
  await conduit?.close();
  await rm(folder, { recursive: true, force: true });
});

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** What the environment of a person has. */
function person(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, HOME: folder, KUBECONFIG: kubeconfig };
}

/** The very file that people install, in a process of its own. */
function start(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): { child: ChildProcess; output: Omit<Ended, 'code'>; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...person(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = collect(child);
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, ...output })));
  return { child, output, ended };
}

const arcctl = (...args: string[]) => start(args[0] === 'complete' ? args : ['-n', 'people', ...args]).ended;

async function succeeds(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await arcctl(...args);
  expect(code, `arcctl ${args.join(' ')}: ${stderr}${stdout}`).toBe(0);
  return stdout;
}

/** Blobs take seconds. Other tests end the faults of the common one. */
async function slowRegistry() {
  const registry = await startRegistry({ username, password });
  const fault = { kind: 'drip', bytes: 16 * 1024, everyMs: 100 } as const;
  registry.faults.add({ fault, path: /\/blobs\//, times: 100 });
  return { registry, [Symbol.asyncDispose]: () => registry.close() };
}

const artifact = (name: string, from: string) => ({
  name,
  type: 'oci',
  spec: { image: `${from}:1.0`, override: `${name}:1.0` },
});

describe.concurrent('arcctl drives the standalone', { timeout: 300_000 }, () => {
  it('shows an Order that arrives, and tells of its events while they happen', async () => {
    const events = start(['-n', 'people', 'events', '--follow', '-o', 'json']);
    const seen = collect(events.child);
    await tenant.order('moved', [artifact('moved', 'good/app')]);
    const own = start(['-n', 'people', 'events', 'moved', '--follow']);
    const seenOfIt = collect(own.child);
    expect(await succeeds('watch', 'moved')).toMatch(/^moved: Succeeded$/m);
    expect(await succeeds('wait', 'order/moved')).toBe('order.arc.opendefense.cloud/moved condition met\n');
    expect(await succeeds('get', 'orders', 'moved')).toMatch(
      /^NAME +PHASE +ARTIFACTS.*\nmoved +Succeeded +1 +1 +0 /,
    );
    expect(await succeeds('get', 'order/moved', '-o', 'name')).toBe('order.arc.opendefense.cloud/moved\n');
    const tree = await succeeds('tree', 'moved', '-o', 'wide');
    expect(tree).toMatch(/Order people\/moved +Succeeded/);
    expect(tree).toMatch(/└─ moved \(oci: source -> destination\) +Succeeded +sha256:/);
    expect(tree).toMatch(/└─ Pod .* Succeeded/);
    expect(await succeeds('logs', 'moved')).toContain('"outcome":"succeeded"');
    const [shown] = [JSON.parse(await succeeds('tree', 'moved', '-o', 'json'))];
    expect(shown).toMatchObject({
      name: 'moved',
      artifacts: [{ phase: 'Succeeded', versions: [{ inForce: true }] }],
    });
    await eventually('the end of the Order among the events', 10_000, async () => {
      expect(seen.stdout).toContain('"type":"cloud.opendefense.arc.order.completed.v1"');
      expect(seen.stdout).toContain('"reason":"Completed"');
      expect(seenOfIt.stdout).toMatch(/order\/moved +Completed/);
      expect(seenOfIt.stdout).toMatch(/artifactworkflow\/moved-\w+ +Succeeded/);
    });
    own.child.kill('SIGINT');
    events.child.kill('SIGINT');
    expect(await own.ended).toMatchObject({ code: 130, stderr: '' });
    expect(await events.ended).toMatchObject({ code: 130, stderr: '' });
  });

  it('says why an artifact failed, shows its log, and brings it in with a retry', async () => {
    await tenant.order('failed', [artifact('failed', 'later/app')], { retry: { limit: 0 } });
    const { code, stderr } = await arcctl('wait', 'failed');
    expect([code, stderr]).toEqual([1, expect.stringContaining('later/app:1.0 does not exist')]);
    expect(stderr).toContain('arcctl retry failed');
    expect(await succeeds('logs', 'failed', '--artifact', 'failed')).toContain('later/app');
    expect((await arcctl('watch', 'failed')).code).toBe(1);
    await seedImage(conduit.source, 'later/app', '1.0', image);
    expect(await succeeds('retry', 'failed')).toBe('order.arc.opendefense.cloud/failed retry requested\n');
    await succeeds('wait', 'failed');
  });

  it('cancels what hangs, and resumes it', async () => {
    conduit.source.faults.add({ path: /^\/v2\/slow\//, fault: { kind: 'hang' }, times: 100 });
    await seedImage(conduit.source, 'slow/app', '1.0', image);
    await tenant.order('slow', [artifact('slow', 'slow/app')]);
    await succeeds('wait', 'slow', '--for', 'phase=running');
    // A process that is stopped before it has begun says nothing.
    await eventually('its worker to be at work', 30_000, () =>
      expect(conduit.source.requests.some(({ path }) => path.startsWith('/v2/slow/'))).toBe(true),
    );
    const logs = start(['-n', 'people', 'logs', 'slow', '--follow']);
    await eventually('its log to be followed', 30_000, () =>
      expect(logs.output.stderr).toMatch(/^slow: following the log of pod slow-/),
    );
    expect(await succeeds('tree', 'slow')).toMatch(/└─ Pod .* Running/);
    expect(await arcctl('wait', 'slow', '--timeout', '100ms')).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('goal not reached'),
    });
    await succeeds('cancel', 'slow');
    await succeeds('wait', 'slow', '--for=phase=Cancelled');
    // What a worker says while it is being stopped is in no pod afterwards.
    expect(await logs.ended).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('stopped by SIGTERM'),
    });
    conduit.source.faults.clear();
    await succeeds('resume', 'slow');
    await succeeds('wait', 'slow');
  });

  it.skipIf(!existsSync(terminalProgram))(
    'draws bars on a terminal, in their place, until it has arrived',
    async () => {
      await using slow = await slowRegistry();
      await seedImage(slow.registry, 'bars/app', '1.0', { ...image, layerBytes: 1024 * 1024 });
      const spec = { type: 'oci', remoteURL: slow.registry.url, secretRef: { name: 'credentials' } };
      await tenant.endpoint('slow', spec);
      const bars = { ...artifact('bars', 'bars/app'), srcRef: { name: 'slow' } };
      await tenant.order('bars', [bars, artifact('other', 'good/app')]);
      const watch = runOnTerminal(`${process.execPath} ${program} -n people watch bars`, { env: person() });
      await eventually('a bar that is half full', 60_000, async () => {
        expect((await watch.screen())[0]).toMatch(/^ {2}bars {9}█+░+ +\d+% {2}Running {2}.*B\/s, .* left/);
      });
      expect(await watch.ended).toBe(0);
      const full = '█'.repeat(30);
      expect(await watch.screen()).toEqual([
        `  bars         ${full} 100%  Succeeded`,
        `  other        ${full} 100%  Succeeded`,
        expect.stringMatching(/^ {2}total {8}█+ 100% {2}2 of 2 {2}\d.*iB$/),
      ]);
      expect(watch.terminal.buffer.active.baseY, 'lines that have left the screen').toBe(0);
    },
  );

  it.skipIf(!existsSync(terminalProgram))('ends with Ctrl-C on a terminal', async () => {
    const watch = runOnTerminal(`${process.execPath} ${program} -n people watch`, { env: person() });
    await eventually('something is shown', 60_000, async () => expect(await watch.screen()).not.toEqual([]));
    watch.type('\u0003');
    expect(await watch.ended).toBe(130);
  });

  it('says what is wrong by its exit code, and with the next step', async () => {
    const nobody = path.join(folder, 'broken');
    await writeFile(nobody, '{}');
    const cases: [args: string[], code: number, text: string][] = [
      [['get', 'order/none'], 1, '"none" not found'],
      [['tree', 'none'], 1, 'arcctl get orders -A'],
      [['get', 'pods'], 2, 'use one of orders,'],
      [['frobnicate'], 2, "unknown command 'frobnicate'"],
      [['cancel'], 2, '--all'],
      [['get', '--kubeconfig', nobody], 3, 'no context is selected'],
      [['get', '--as', 'eve'], 5, 'User "eve" cannot list'],
    ];
    for (const [args, code, text] of cases)
      expect(await arcctl(...args)).toEqual({ code, stdout: '', stderr: expect.stringContaining(text) });
    expect(await start(['get'], { KUBECONFIG: '', HOME: folder }).ended).toMatchObject({ code: 3 });
  });

  it('says what a file would do, and makes an Order from two references', async () => {
    const [from, to] = [conduit.source, conduit.destination].map(({ url }) => new URL(url).host);
    const auth = Buffer.from(`${username}:${password}`).toString('base64');
    const docker = path.join(folder, 'docker');
    await mkdir(docker);
    await writeFile(
      path.join(docker, 'config.json'),
      JSON.stringify({ auths: { [String(from)]: { auth }, [String(to)]: { auth } } }),
    );
    await seedImage(conduit.source, 'planned/app', '1.0', image);
    const file = path.join(folder, 'order.json');
    const artifacts = [
      artifact('planned', 'planned/app'),
      { ...artifact('lost', 'x/app'), srcRef: { name: 'nowhere' } },
      { ...artifact('twice', 'planned/app'), spec: { image: 'planned/app:2.0', override: 'planned:1.0' } },
    ];
    const defaults = { srcRef: { name: 'source' }, dstRef: { name: 'destination' } };
    const metadata = { name: 'planned' };
    const order = {
      apiVersion: 'arc.opendefense.cloud/v1alpha1',
      kind: 'Order',
      metadata,
      spec: { defaults, artifacts },
    };
    await writeFile(file, JSON.stringify(order));
    const planned = await start(['-n', 'people', 'plan', '-f', file], { DOCKER_CONFIG: docker }).ended;
    expect(planned.stdout).toMatch(/planned +oci +run +3\d\.\d KiB +new/);
    expect(planned.stdout).toMatch(/lost +oci +wait +- +EndpointMissing/);
    expect(planned.stdout).toMatch(/twice +oci +refuse +- +TargetTaken/);
    expect(planned.code).toBe(1);
    const diff = await arcctl('diff', '-f', file);
    expect([diff.code, diff.stdout]).toEqual([1, expect.stringContaining('+        image: planned/app:1.0')]);
    expect((await arcctl('get', 'order/planned')).code).toBe(1);
    expect(await succeeds('create', `${from}/planned/app:1.0`, `${to}/copies/`, '--name', 'made')).toContain(
      '/made created',
    );
    await succeeds('wait', 'made');
    expect(await succeeds('complete', '--', 'tree', '-n', 'people', 'ma')).toContain('made');
  });

  it('looks after newcomers: doctor, explain, completion', async () => {
    // In a namespace without Endpoints: those of the other tests have perhaps not been probed yet.
    expect(await succeeds('doctor', '-n', 'default')).toMatch(/ARC API +ok/);
    expect(await succeeds('explain', 'placeinuse')).toContain('PlaceInUse (artifact waits): ');
    for (const shell of ['bash', 'zsh', 'fish'])
      expect(await succeeds('completion', shell)).toContain('arcctl');
    expect(await succeeds('version')).toContain('arc.opendefense.cloud/v1alpha1');
  });

  it('ends without a word when nobody reads on', async () => {
    const { child, ended } = start(['get', 'clusterartifacttypes', '-o', 'json']);
    child.stdout?.destroy();
    expect(await ended).toMatchObject({ code: 141, stderr: '' });
  });
});
