import { afterAll, beforeAll, expect, it } from 'vitest';
import { namespaces, orders, workflows } from '#shared/domain';
import { order } from '../../../shared/domain/testing/objects.ts';
import { startApi, type TestApi } from '../../../test/fixtures/standalone/api-server.ts';
import { createProgram } from '../program.ts';
import { quietIo } from '../testing/quiet-io.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  const namespace = 'team';
  await api.admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const { metadata, ...rest } = order('images', ['a:1']);
  const made = await api.admin.create(orders, { ...rest, metadata: { name: metadata.name, namespace } });
  await api.admin.create(workflows, {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Workflow',
    metadata: {
      name: 'w'.repeat(100),
      namespace,
      labels: { 'arc.opendefense.cloud/order': made.metadata.uid ?? '' },
    },
    spec: { workflowTemplateRef: { name: 'none' } },
  });
  const status = { phase: 'Pending', observedGeneration: made.metadata.generation };
  await api.admin.mergePatch(orders, { name: 'images', namespace }, { status }, { subresource: 'status' });
});
afterAll(() => api?.[Symbol.asyncDispose]());

async function printed(...args: string[]): Promise<string> {
  const io = quietIo({ env: { KUBECONFIG: api.kubeconfig } });
  await createProgram(io).parseAsync(['node', 'arcctl', '-n', 'team', ...args]);
  return io.printed.join('\n');
}

it('with --timeout 0 it looks once', async () => {
  expect(await printed('wait', 'images', '--for', 'phase=Pending', '--timeout', '0')).toContain(
    'condition met',
  );
  await expect(printed('wait', 'images', '--timeout', '0')).rejects.toThrow('goal not reached');
});

it('a tree is shown whatever somebody has labelled as a run of the Order', async () => {
  expect(await printed('tree')).toContain('Order team/images');
  expect(await printed('tree', 'images')).toContain('Order team/images');
});
