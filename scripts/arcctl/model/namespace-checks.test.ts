import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endpoints, namespaces } from '#shared/domain';
import { endpoint } from '../../../shared/domain/testing/objects.ts';
import { startApi, type TestApi } from '../../../test/fixtures/standalone/api-server.ts';
import { connect } from '../core/session.ts';
import { quietIo } from '../testing/quiet-io.ts';
import { namespaceChecks } from './namespace-checks.ts';

const namespace = 'team';
let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  await api.admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
});
afterAll(() => api[Symbol.asyncDispose]());

describe('doctor, of the Endpoints of a namespace', () => {
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
    const message = 'it has not been probed yet: wait until it is Ready';
    expect(await findings()).toEqual([{ check: 'Endpoint new', state: 'warn', message, fix: wait }]);
    const probed = (status: 'True' | 'False') => ({
      status: {
        conditions: [
          {
            ...{ type: 'Ready', status, reason: 'Probed', message: 'seen' },
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
      },
    });
    const write = (status: 'True' | 'False') =>
      api.admin.mergePatch(endpoints, { namespace, name: 'new' }, probed(status), { subresource: 'status' });
    await write('False');
    expect(await findings()).toMatchObject([{ state: 'bad', message: 'Probed: seen' }]);
    await write('True');
    expect(await findings()).toMatchObject([{ state: 'ok', message: '1 ready' }]);
  });
});
