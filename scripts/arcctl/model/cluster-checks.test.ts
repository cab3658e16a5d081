import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createKubeClient, createTransport } from '#shared/kubernetes/client';
import type { Cluster } from '../core/session.ts';
import { createProgram } from '../program.ts';
import { quietIo } from '../testing/quiet-io.ts';
import { clusterChecks } from './cluster-checks.ts';
import type { Finding } from './findings.ts';

const ready = { status: { conditions: [{ type: 'Ready', status: 'True', message: 'fine' }] } };
const available = { status: { conditions: [{ type: 'Available', status: 'True' }] } };
const list = (...items: [name: string, rest: object][]) => ({
  metadata: { resourceVersion: '1' },
  items: items.map(([name, rest]) => ({ metadata: { name, namespace: 'arc-system' }, ...rest })),
});
const object = (name: string, rest: object) => ({ metadata: { name, resourceVersion: '1' }, ...rest });

const apiService = '/apis/apiregistration.k8s.io/v1/apiservices/v1alpha1.arc.opendefense.cloud';
const deployments = '/apis/apps/v1/namespaces/arc-system/deployments';
const triggers = '/apis/eventing.knative.dev/v1/namespaces/arc-system/triggers';

/** What a cluster in which all is well answers, by path. */
const healthy: Record<string, object> = {
  '/version': { gitVersion: 'v1.34.2' },
  '/apis': { groups: [{ name: 'apiregistration.k8s.io' }, { name: 'arc.opendefense.cloud' }] },
  '/apis/arc.opendefense.cloud/v1alpha1': { resources: [] },
  [apiService]: object('v1alpha1.arc.opendefense.cloud', { spec: {}, ...available }),
  [deployments]: list(['api-server', available]),
  '/apis/serving.knative.dev/v1/namespaces/arc-system/services': list(['decompose-order', ready]),
  '/apis/eventing.knative.dev/v1/namespaces/arc-system/brokers': list(['arc', ready]),
  [triggers]: list(['decompose-order', ready], ['roll-up-order', ready]),
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/workflows.argoproj.io': object(
    'workflows.argoproj.io',
    {},
  ),
  '/apis/apps/v1/deployments': list(['workflow-controller', available]),
};

let answers: Record<string, object | number>;
const server = createServer((request, response) => {
  const path = request.url?.split('?')[0] ?? '';
  const answer = answers[path] ?? 404;
  const name = path.split('/').at(-1);
  const status = { kind: 'Status', reason: answer === 404 ? 'NotFound' : '', details: { name, kind: 'x' } };
  response.writeHead(typeof answer === 'number' ? answer : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(typeof answer === 'number' ? status : answer));
});
let cluster: Cluster;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-doctor-'));
  await writeFile(path.join(folder, 'token'), 'unit');
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const access = { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, userAgent: 'unit' };
  cluster = {
    api: createKubeClient(access),
    transport: createTransport(access),
    server: access.server,
    namespace: 'team',
    hint: (words) => `arcctl ${words}`,
  };
});
afterAll(async () => {
  server.close().closeAllConnections();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  answers = { ...healthy };
});

async function findings(): Promise<Finding[]> {
  const { signal } = new AbortController();
  return (await Promise.all(clusterChecks.map(({ run }) => run(cluster, signal)))).flat();
}
const wrong = async () =>
  (await findings())
    .filter(({ state }) => state !== 'ok')
    .map(({ check, state, fix }) => [check, state, fix]);

describe('doctor', () => {
  it('finds nothing where all is well but the certificate authority, which is missing here', async () => {
    expect(await wrong()).toEqual([
      ['certificate authority', 'bad', expect.stringContaining('certificate-issuer')],
    ]);
  });

  it.each([
    [
      'an APIService that is not available',
      { [apiService]: object('x', { spec: {} }) },
      'APIService',
      'kubectl logs',
    ],
    ['no Deployments', { [deployments]: list() }, 'Deployments', 'kubectl apply -k'],
    [
      'a Trigger that is not ready',
      { [triggers]: list(['roll-up-order', {}]) },
      'Trigger roll-up-order',
      'kubectl describe',
    ],
    ['no Triggers of Knative', { [triggers]: 404 }, 'Triggers', 'install Knative'],
    ['no API', { '/apis/arc.opendefense.cloud/v1alpha1': 503 }, 'ARC API', 'kubectl apply -k'],
    [
      'no Argo',
      { '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/workflows.argoproj.io': 404 },
      'Argo Workflows',
      'install Argo',
    ],
    ['an old Kubernetes', { '/version': { gitVersion: 'v1.29.1' } }, 'Kubernetes', 'upgrade'],
  ])('finds %s, and says what mends it', async (_, changed, check, fix) => {
    Object.assign(answers, changed);
    expect(await wrong()).toContainEqual([
      check,
      expect.stringMatching('bad|warn'),
      expect.stringContaining(fix),
    ]);
  });

  it('goes on past what its user may not look at, and ends with 1', async () => {
    answers[deployments] = 403;
    const io = quietIo({
      env: { ARC_API_SERVER: cluster.server, ARC_TOKEN_FILE: path.join(folder, 'token') },
    });
    const run = createProgram(io).parseAsync(['node', 'arcctl', 'doctor', '-n', 'team']);
    await expect(run).rejects.toMatchObject({ exitCode: 1 });
    const lines = io.printed.join('\n');
    expect(lines).toMatch(/Deployments +unknown/);
    expect(lines).toMatch(/Triggers +ok +2 ready/);
    expect(lines).toMatch(/^namespace: kubectl create namespace team$/m);
  });
});
