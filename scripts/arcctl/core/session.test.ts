import { afterAll, beforeAll, expect, it } from 'vitest';
import { namespaces } from '#shared/domain';
import { startApi, type TestApi } from '../../../test/fixtures/standalone/api-server.ts';
import { createProgram } from '../program.ts';
import { quietIo } from '../testing/quiet-io.ts';
import { connect } from './session.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  await api.admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
});
afterAll(() => api[Symbol.asyncDispose]());

it('advises commands for the same cluster and namespace', async () => {
  const io = quietIo({ env: { KUBECONFIG: api.kubeconfig } });
  const options = { namespace: 'team', kubeconfig: api.kubeconfig, as: 'eve' };
  const { hint } = await connect(io, options);
  expect(hint('retry app')).toBe(`arcctl retry app -n team --kubeconfig ${api.kubeconfig}`);
  expect((await connect(io, {})).hint('tree')).toBe('arcctl tree');
});

it('watch says that there is nothing to watch yet, and where', async () => {
  const ending = new AbortController();
  const io = quietIo({ env: { KUBECONFIG: api.kubeconfig }, signal: ending.signal });
  const watch = createProgram(io).parseAsync(['node', 'arcctl', 'watch', '-n', 'team']);
  await expect
    .poll(() => io.notes, { timeout: 20_000 })
    .toEqual(['No Orders found in namespace team: waiting. Ctrl-C stops, -A watches all namespaces.']);
  ending.abort();
  await watch;
});
