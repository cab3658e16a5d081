import { once } from 'node:events';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { stepEvent, toBinaryRequest } from '#shared/conduit/events';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { type NetworkNamespace, startNetworkNamespace } from '../fixtures/cluster/network-namespace.ts';
import type { Program } from '../fixtures/program.ts';

const assets = process.env.KUBEBUILDER_ASSETS ?? '';
const binary = path.join(assets, 'serving-queue');
const isThere = await access(binary).then(
  () => true,
  () => false,
);
if (process.env.CI && !isThere)
  throw new Error(`${binary} is missing: build knative.dev/serving/cmd/queue into KUBEBUILDER_ASSETS`);
if (!isThere)
  console.warn('no serving-queue in KUBEBUILDER_ASSETS: the tests behind queue-proxy are left out');

const ports = { queue: 8012, function: 8080, admin: 8022 };

interface Answer {
  status: number;
  body: string;
}

/** Knative's own queue-proxy in front of a function's own process, in a network as a pod has it. */
describe.skipIf(!isThere)('a function behind queue-proxy', () => {
  let net: NetworkNamespace;
  let folder: string;
  const running: Program[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'arc-queue-'));
    await writeFile(path.join(folder, 'token'), 'none');
    net = await startNetworkNamespace(Object.values(ports));
  }, 60_000);
  afterEach(async () => {
    for (const program of running.splice(0)) {
      program.child.kill('SIGKILL');
      await program.stop();
    }
  });
  afterAll(async () => {
    await net?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  function run(command: string, args: string[], env: NodeJS.ProcessEnv): Program {
    const program = net.start(command, args, { ...process.env, ...env });
    running.push(program);
    return program;
  }

  const startFunction = (env: NodeJS.ProcessEnv = {}): Program =>
    run(process.execPath, ['test/fixtures/knative/scripted-function.ts'], {
      PORT: String(ports.function),
      ARC_API_SERVER: 'http://127.0.0.1:9',
      ARC_TOKEN_FILE: path.join(folder, 'token'),
      ...env,
    });

  const startQueue = (env: { concurrency: number; timeoutSeconds: number }): Program => {
    const httpGet = { path: '/health/readiness', port: ports.function, host: '127.0.0.1', scheme: 'HTTP' };
    return run(binary, [], {
      CONTAINER_CONCURRENCY: String(env.concurrency),
      REVISION_TIMEOUT_SECONDS: String(env.timeoutSeconds),
      QUEUE_SERVING_PORT: String(ports.queue),
      QUEUE_SERVING_TLS_PORT: '8112',
      USER_PORT: String(ports.function),
      SERVING_NAMESPACE: 'arc-system',
      SERVING_SERVICE: 'scripted',
      SERVING_CONFIGURATION: 'scripted',
      SERVING_REVISION: 'scripted-00001',
      SERVING_POD: 'pod',
      SERVING_POD_IP: '127.0.0.1',
      HOST_IP: '127.0.0.1',
      SERVING_LOGGING_CONFIG: '',
      SERVING_LOGGING_LEVEL: 'warn',
      SERVING_READINESS_PROBE: JSON.stringify({ httpGet, successThreshold: 1 }),
    });
  };

  function send(
    port: number,
    how: { method?: string; path?: string; headers?: Record<string, string>; body?: string } = {},
  ): Promise<Answer> {
    const { method = 'GET', headers = {}, body = '' } = how;
    const socketPath = net.socketOf(port);
    return new Promise((resolve, reject) => {
      const outgoing = request(
        { socketPath, method, path: how.path ?? '/', headers, agent: false },
        (answer) => {
          let text = '';
          answer.setEncoding('utf8').on('data', (piece: string) => {
            text += piece;
          });
          answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: text }));
          answer.on('error', reject);
        },
      );
      outgoing.on('error', reject).end(body);
    });
  }

  /** An event whose handling takes so long. */
  const event = (ms: number, port = ports.queue) => {
    const object = {
      apiVersion: 'arc.opendefense.cloud/v1alpha1',
      kind: 'Order',
      namespace: 'n',
      name: String(ms),
      uid: 'u',
    };
    const made = stepEvent({
      object,
      observed: { ...object, resourceVersion: '1' },
      step: 'decompose',
      reason: 'test',
      partitionKey: 'u',
      time: new Date(),
    });
    return send(port, { method: 'POST', ...toBinaryRequest(made) });
  };
  /** As the kubelet and the activator ask. */
  const probe = async () => {
    const headers = { 'user-agent': 'kube-probe/1.34', 'k-network-probe': 'queue' };
    return (await send(ports.queue, { headers })).status;
  };
  const ready = () =>
    eventually('queue-proxy to say that the function is ready', 30_000, async () => {
      expect(await probe()).toBe(200);
    });
  const metric = async (name: string) =>
    new RegExp(`^${name}(?:{.*})? (.*)$`, 'm').exec(
      (await send(ports.function, { path: '/metrics' })).body,
    )?.[1];

  it('is ready when its own readiness says so, and not before', async () => {
    startQueue({ concurrency: 2, timeoutSeconds: 60 });
    await eventually('queue-proxy to answer', 20_000, async () => {
      expect(await probe()).toBe(503);
    });
    startFunction();
    await ready();
    expect(await event(0)).toEqual({ status: 204, body: '' });
    expect(await metric('faas_invocations')).toBe('1');
    for (const name of ['execution_latency', 'queue_latency'])
      expect(await metric(`faas_${name}_count`), name).toBe('1');
    expect(Number(await metric('faas_cold_start_latency'))).toBeGreaterThan(0);
  }, 60_000);

  it('gets containerConcurrency requests at once; others wait, then get a 503', async () => {
    startQueue({ concurrency: 2, timeoutSeconds: 60 });
    startFunction();
    await ready();
    // Two at work, ten times as many waiting.
    const answers = await Promise.all(Array.from({ length: 30 }, () => event(500)));
    const statuses = answers.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([204, 503]));
    expect(statuses.filter((status) => status === 204).length).toBeGreaterThanOrEqual(22);
    expect(await metric('test_peak')).toBe('2');
  }, 60_000);

  it('answers 503 with a reason at its own deadline; without one queue-proxy would say 504', async () => {
    startQueue({ concurrency: 2, timeoutSeconds: 4 });
    const strict = startFunction({ ARC_DEADLINE_SECONDS: '1' });
    await ready();
    const answer = await event(20_000);
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.body)).toMatchObject({ reason: 'Timeout' });
    strict.child.kill('SIGKILL');
    await strict.stop();
    startFunction({ ARC_DEADLINE_SECONDS: '30' });
    await ready();
    expect((await event(20_000)).status).toBe(504);
  }, 60_000);

  it('finishes its requests when the pod is deleted, and accepts requests that still arrive', async () => {
    const queue = startQueue({ concurrency: 10, timeoutSeconds: 90 });
    const fn = startFunction();
    const ends = Promise.all([fn, queue].map(({ child }) => once(child, 'exit')));
    await ready();
    // The order of the kubelet: SIGTERM to queue-proxy, preStop for the function, and SIGTERM to it after that.
    const long = event(40_000);
    await eventually('the long one to be at work', 10_000, async () => {
      expect(await metric('test_peak')).toBe('1');
    });
    queue.child.kill('SIGTERM');
    const drained = send(ports.admin, { path: '/wait-for-drain' });
    const late: number[] = [];
    for (let count = 0; count < 5; count += 1) late.push((await event(100)).status);
    expect(late).toEqual([204, 204, 204, 204, 204]);
    expect(await probe()).toBe(503);
    expect((await drained).status).toBe(200);
    expect(await Promise.race([long, 'still at work'])).toBe('still at work');
    fn.child.kill('SIGTERM');
    await eventually('the function to say that it ends', 10_000, async () => {
      expect(
        (await send(ports.function, { path: '/health/readiness' }).catch(() => ({ status: 0 }))).status,
      ).not.toBe(200);
    });
    expect(await long).toEqual({ status: 204, body: '' });
    expect(await ends).toEqual([
      [0, null],
      [0, null],
    ]);
  }, 120_000);
});
