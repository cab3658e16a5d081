import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clusterArtifactTypes, type Order, secrets } from '#shared/domain';
import type { FaultRule } from '#shared/local';
import { seedImage } from '#shared/local';
import { eventually } from '../../shared/base/testing/eventually.ts';
import {
  type Conduit,
  password,
  startConduit,
  type Tenant,
  visible,
} from '../fixtures/standalone/conduit.ts';

const image = { platforms: ['linux/amd64'], layers: 1, layerBytes: 32 * 1024, signature: false };

let conduit: Conduit;
let tenant: Tenant;

beforeAll(async () => {
  conduit = await startConduit({
    programs: {},
  });
  tenant = await conduit.tenant('faults');
  await tenant.secret('wrong', { username: 'mover', password: `not-${password}` });
  await tenant.endpoint('wrong', {
    type: 'oci',
    remoteURL: conduit.source.url,
    secretRef: { name: 'wrong' },
  });
  await tenant.endpoint('closed', { type: 'oci', remoteURL: 'http://127.0.0.1:1' });
  const oci = await conduit.api.get(clusterArtifactTypes, { name: 'oci' });
  if (!oci) throw new Error('the type oci is not there');
  const parameters = [
    { name: 'policy', value: JSON.stringify({ repositories: { denied: ['*/barred/*'] } }) },
  ];
  const spec = { ...oci.spec, parameters };
  await conduit.api.create(clusterArtifactTypes, { ...oci, metadata: { name: 'oci-gated' }, spec });
});
afterAll(() => conduit?.close());

describe.concurrent('what goes wrong with one artifact', { timeout: 300_000 }, () => {
  /** Two artifacts: the bad one and one that nothing is wrong with. */
  async function orderWith(name: string, bad: object, phase = 'Failed'): Promise<Order> {
    await seedImage(conduit.source, 'good/app', '1.0', image);
    const artifacts = [
      { name: 'bad', type: 'oci', spec: { image: `${name}/app:1.0` }, ...bad },
      { name: 'good', type: 'oci', spec: { image: 'good/app:1.0', override: `${name}/good:1.0` } },
    ];
    await tenant.order(name, artifacts, { retry: { limit: 0 } });
    return tenant.ended(name, phase);
  }

  function entry(order: Order, name: string) {
    return Object.values(order.status?.artifactWorkflows ?? {}).find((one) => one.artifact === name);
  }

  async function expectFailed(order: Order, ...words: (string | RegExp)[]): Promise<void> {
    expect(order.status).toMatchObject({ phase: 'Failed', counts: { total: 2, succeeded: 1, failed: 1 } });
    expect(entry(order, 'good')).toMatchObject({ phase: 'Succeeded' });
    expect(entry(order, 'bad')).toMatchObject({ phase: 'Failed' });
    const message = entry(order, 'bad')?.message ?? '';
    for (const word of words) expect(message).toMatch(word);
    // The Order's own message names the artifact; the ArtifactWorkflow says the same as the Order.
    expect(order.status?.message).toContain('(bad)');
    const failed = (await tenant.children()).find(({ status }) => status?.message === message);
    expect(failed?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Stalled', status: 'True' }),
    );
  }

  const atSource = () => conduit.source.host;
  const faults: [name: string, rule: FaultRule, words: (string | RegExp)[]][] = [
    [
      'forbidden',
      { path: /^\/v2\/forbidden\//, fault: { kind: 'status', status: 403 } },
      ['403', 'pull', 'right'],
    ],
    [
      'throttled',
      { path: /^\/v2\/throttled\//, fault: { kind: 'status', status: 429 } },
      ['429', 'try later', 'tried 2 times'],
    ],
    [
      'impatient',
      { path: /^\/v2\/impatient\//, fault: { kind: 'status', status: 429, retryAfter: '86400' } },
      ['429', '86400 s'],
    ],
    [
      'broken',
      {
        path: /^\/v2\/broken\//,
        fault: { kind: 'status', status: 503, message: `no luck with ${password}` },
      },
      ['503', 'retry later', 'tried 2 times'],
    ],
    [
      'short',
      { path: /^\/v2\/short\/app\/blobs/, fault: { kind: 'truncate', bytes: 10 } },
      ['Blob', /ended after/],
    ],
    ['rotten', { path: /^\/v2\/rotten\/app\/blobs/, fault: { kind: 'corrupt' } }, ['sha256:', 'digest']],
    [
      'reset',
      { path: /^\/v2\/reset\//, fault: { kind: 'reset' } },
      ['could not be reached', 'check its log'],
    ],
  ];

  it.each(faults)('%s: it fails by itself and says what, where and what to do', async (name, rule, words) => {
    await seedImage(conduit.source, `${name}/app`, '1.0', image);
    conduit.source.faults.add(rule);
    await expectFailed(await orderWith(name, {}), atSource(), `${name}/app`, ...words);
  });

  it('wrong credentials: the Secret to look at is named', async () => {
    await seedImage(conduit.source, 'denied/app', '1.0', image);
    const order = await orderWith('denied', { srcRef: { name: 'wrong' } });
    await expectFailed(order, atSource(), '401', 'user "mover"', 'Secret of Endpoint "wrong"');
  });

  it('an absent image: what to check is named', async () => {
    await expectFailed(
      await orderWith('absent', {}),
      atSource(),
      '404',
      'absent/app',
      'check image name, tag and remoteURL',
    );
  });

  it('a registry that is not there: where it was looked for is named', async () => {
    await expectFailed(
      await orderWith('nowhere', { srcRef: { name: 'closed' } }),
      '127.0.0.1:1',
      'ECONNREFUSED',
      'Endpoint "closed"',
    );
  });

  it('a policy that denies it: the rule is named, nothing is written, and no retry follows', async () => {
    await seedImage(conduit.source, 'barred/app', '1.0', image);
    const bad = { name: 'bad', type: 'oci-gated', spec: { image: 'barred/app:1.0' } };
    await tenant.order('barred', [bad], { retry: { limit: 3, backoff: '0s' } });
    const denied = entry(await tenant.ended('barred', 'Failed'), 'bad');
    expect(denied?.message).toMatch(
      /Denied by policy, rule repositories\.denied: .*matches "\*\/barred\/\*"/,
    );
    expect(denied?.attempts ?? 1).toBe(1);
    const child = (await tenant.children()).find(({ spec }) => spec.type === 'oci-gated');
    expect(child?.status?.results?.reason).toBe('denied-by-policy');
    const asked = conduit.destination.requests.filter(({ path }) => path.includes('/barred/'));
    expect(asked.map(({ method }) => method).filter((method) => method !== 'HEAD')).toEqual([]);
  });

  it('a worker that is killed: so much is said, and what to look at', async () => {
    await seedImage(conduit.source, 'killed/app', '1.0', image);
    conduit.source.faults.add({ path: /^\/v2\/killed\//, fault: { kind: 'hang' } });
    const killed = killWorkerOf(conduit, 'killed/app');
    const order = await orderWith('killed', {});
    await killed;
    await expectFailed(order, 'exit code 137', 'killed', 'memory', 'retry-at');
  });

  it('a worker that is killed is started again where the Order asks for retries', async () => {
    await seedImage(conduit.source, 'revived/app', '1.0', image);
    conduit.source.faults.add({ path: /^\/v2\/revived\//, fault: { kind: 'hang' }, times: 1 });
    const bad = { name: 'bad', type: 'oci', spec: { image: 'revived/app:1.0' } };
    await tenant.order('revived', [bad], { retry: { limit: 1, backoff: '0s' } });
    await killWorkerOf(conduit, 'revived/app');
    expect(entry(await tenant.ended('revived'), 'bad')).toMatchObject({ phase: 'Succeeded', attempts: 2 });
  });
});

describe('after all that', { timeout: 300_000 }, () => {
  it('no credential is in anything but a Secret, and the rendered Secrets are gone', async () => {
    const text = await visible(conduit);
    const basic = Buffer.from(`mover:${password}`).toString('base64');
    const forms = [
      password,
      JSON.stringify(password).slice(1, -1),
      encodeURIComponent(password),
      Buffer.from(password).toString('base64'),
      basic,
    ];
    for (const form of forms) expect(text.includes(form), `visible: ${form}`).toBe(false);
    expect(text).toContain('no luck with');
    await eventually('rendered Secrets to go', 30_000, async () => {
      const { items } = await conduit.api.list(secrets, { namespace: 'faults' });
      expect(items.map(({ metadata }) => metadata.name).sort()).toEqual(['credentials', 'wrong']);
    });
    const runs = await readdir(path.join(conduit.folder, 'state/runs'));
    expect(runs.filter((name) => !name.startsWith('.'))).toEqual([]);
  });
});

/** Kills, as the kernel would, the worker whose job names the image, once it has asked the registry for it. */
async function killWorkerOf(conduit: Conduit, wanted: string): Promise<void> {
  const runs = path.join(conduit.folder, 'state/runs');
  await eventually(`a worker of ${wanted}`, 30_000, async () => {
    expect(conduit.source.requests.some((request) => request.path.includes(wanted))).toBe(true);
    for (const run of await readdir(runs)) {
      const job = await readFile(path.join(runs, run, 'volumes/0/job.json'), 'utf8').catch(() => '');
      if (!job.includes(wanted)) continue;
      const { pid } = JSON.parse(await readFile(path.join(runs, run, 'process.json'), 'utf8'));
      process.kill(pid, 'SIGKILL');
      return;
    }
    throw new Error('none runs');
  });
}
