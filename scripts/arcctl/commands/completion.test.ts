import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endpoints, namespaces, orders } from '#shared/domain';
import { endpoint, order } from '../../../shared/domain/testing/objects.ts';
import { startApi, type TestApi } from '../../../test/fixtures/standalone/api-server.ts';
import { createProgram } from '../program.ts';
import { quietIo } from '../testing/quiet-io.ts';
import { complete } from './completion.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  const namespace = 'team';
  await api.admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const { spec } = order('app', ['a:1']);
  const artifacts = [{ ...spec.artifacts?.[0], type: 'oci', name: 'first' }];
  await api.admin.create(orders, {
    ...order('app', []),
    metadata: { name: 'app', namespace },
    spec: { ...spec, artifacts },
  });
  await api.admin.create(endpoints, { ...endpoint('harbour'), metadata: { name: 'harbour', namespace } });
});
afterAll(() => api?.[Symbol.asyncDispose]());

async function offered(...line: string[]): Promise<string[]> {
  const io = quietIo({ env: { KUBECONFIG: api.kubeconfig } });
  await complete(io, createProgram(io), line, 30_000);
  return io.printed.map((text) => text.split('\t')[0] ?? '');
}

describe('arcctl complete', () => {
  it.each([
    [['ret'], ['retry', ':4']],
    [
      ['get', 'en'],
      ['endpoints', ':4'],
    ],
    [
      ['get', 'aep', '-n', 'team', ''],
      ['harbour', ':4'],
    ],
    [
      ['get', '-n', 'team', 'endpoint/h'],
      ['endpoint/harbour', ':4'],
    ],
    [
      ['tree', '-n', 'team', 'a'],
      ['app', ':4'],
    ],
    [
      ['tree', '-n', 'te'],
      ['team', ':4'],
    ],
    [
      ['tree', '--namespace=te'],
      ['--namespace=team', ':4'],
    ],
    [
      ['logs', 'app', '-n', 'team', '--artifact', ''],
      ['first', ':4'],
    ],
    [
      ['explain', 'EndpointMis'],
      ['EndpointMissing', ':4'],
    ],
    [
      ['wait', 'app', '--for', 'condition'],
      ['condition=Ready', ':4'],
    ],
    [
      ['get', '-o', 'y'],
      ['yaml', ':4'],
    ],
    [
      ['completion', 'f'],
      ['fish', ':4'],
    ],
    [
      ['tenant', 'a'],
      ['add', ':4'],
    ],
    [['plan', '-f', ''], [':0']],
    [['tree', '--as', ''], [':4']],
    [
      ['tree', '--request-t'],
      ['--request-timeout', ':4'],
    ],
    [['get', 'nonsense', ''], [':4']],
  ])('%j', async (line, expected) => {
    expect(await offered(...line)).toEqual(expected);
  });

  it('offers contexts of the kubeconfig', async () => {
    expect(await offered('tree', '--context', '')).not.toEqual([':4']);
  });
});
