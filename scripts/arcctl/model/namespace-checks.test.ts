import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settingsMap } from '#shared/conduit/function-kit';
import { configMaps, endpoints, namespaces } from '#shared/domain';
import { endpoint } from '../../../shared/domain/testing/objects.ts';
import { startApi, type TestApi } from '../../../test/fixtures/standalone/api-server.ts';
import { connect } from '../core/session.ts';
import { quietIo } from '../testing/quiet-io.ts';
import { clusterChecks } from './cluster-checks.ts';
import { namespaceChecks } from './namespace-checks.ts';

const namespace = 'team';
let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  await api.admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
});
afterAll(() => api[Symbol.asyncDispose]());

describe('doctor, of the Endpoints of a namespace', () => {
  const checkNamed = (name: string) =>
    [...clusterChecks, ...namespaceChecks].find((each) => each.name === name);

  const findings = async () => {
    const cluster = await connect(quietIo({ env: { KUBECONFIG: api.kubeconfig } }), { namespace });
    const check = namespaceChecks.find(({ name }) => name === 'Endpoints');
    return check?.run(cluster, AbortSignal.timeout(30_000));
  };

  it('warns of one that has not been probed yet, and of one that is not ready', async () => {
    const { spec } = endpoint('new');
    const object = (name: string) => ({ ...endpoint(name), metadata: { name, namespace }, spec });
    await api.admin.create(endpoints, object('new'));
    const wait = 'arcctl wait endpoint/new --for condition=Ready -n team';
    const message = 'not probed yet: wait until it is Ready';
    expect(await findings()).toEqual([{ check: 'Endpoint new', state: 'warn', message, fix: wait }]);
    const probed = (status: 'True' | 'False') => ({
      status: {
        conditions: [
          {
            type: 'Ready',
            status,
            reason: 'Probed',
            message: 'seen',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
      },
    });
    const write = (status: 'True' | 'False') =>
      api.admin.mergePatch(endpoints, { namespace, name: 'new' }, probed(status), { subresource: 'status' });
    await api.admin.mergePatch(
      endpoints,
      { namespace, name: 'new' },
      { status: { probed: { generation: 1 } } },
      {
        subresource: 'status',
      },
    );
    await write('False');
    expect(await findings()).toMatchObject([{ state: 'bad', message: 'Probed: seen' }]);
    await write('True');
    expect(await findings()).toMatchObject([{ state: 'ok', message: '1 ready' }]);
    await api.admin.delete(endpoints, { namespace, name: 'new' });
  });

  it('does not advise to wait for what no probe can tell', async () => {
    const { spec } = endpoint('git', { type: 'git', remoteURL: 'ssh://git.example.com/x' });
    await api.admin.create(endpoints, { ...endpoint('git'), metadata: { name: 'git', namespace }, spec });
    const message = 'the scheme of ssh://git.example.com/x is not supported';
    const condition = { status: 'Unknown', reason: 'UnsupportedScheme', message } as const;
    const conditions = ['Reachable', 'Ready'].map((type) => ({
      type,
      ...condition,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    }));
    const status = { status: { probed: { generation: 1 }, conditions } };
    await api.admin.mergePatch(endpoints, { namespace, name: 'git' }, status, { subresource: 'status' });
    expect(await findings()).toEqual([
      {
        check: 'Endpoint git',
        state: 'unknown',
        message: `${message}: the first transfer shows whether it works`,
      },
    ]);
  });

  it('names each setting that is misspelt or wrong, and the one that was meant', async () => {
    const { namespace: place, name } = settingsMap;
    await api.admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: place } });
    const data = { 'limits.artefactsPerOrder': '1', 'defaults.onChange': 'rerun' };
    const { apiVersion, kind } = configMaps;
    const metadata = { name, namespace: place };
    await api.admin.create(configMaps, { apiVersion, kind, metadata, data });
    const cluster = await connect(quietIo({ env: { KUBECONFIG: api.kubeconfig } }), { namespace });
    const found = await checkNamed('settings')?.run(cluster, AbortSignal.timeout(30_000));
    expect(found).toMatchObject([
      {
        check: 'setting defaults.onChange',
        state: 'bad',
        message: expect.stringContaining('must be one of Rerun'),
      },
      {
        check: 'setting limits.artefactsPerOrder',
        state: 'bad',
        message: 'there is no such setting: did you mean limits.artifactsPerOrder?',
      },
    ]);
    await api.admin.mergePatch(configMaps, settingsMap, { data: { 'features.probes': 'off' } });
    expect(await findings()).toMatchObject([
      { state: 'unknown', message: expect.stringContaining('probes are disabled') },
    ]);
  });
});
