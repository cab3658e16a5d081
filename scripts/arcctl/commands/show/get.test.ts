import { afterAll, beforeAll, expect, it } from 'vitest';
import { mapBounded } from '#shared/base/async';
import { namespaces, orders } from '#shared/domain';
import { order } from '../../../../shared/domain/testing/objects.ts';
import { startApi, type TestApi } from '../../../../test/fixtures/standalone/api-server.ts';
import { createProgram } from '../../program.ts';
import { quietIo } from '../../testing/quiet-io.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } };
  await api.admin.create(namespaces, namespace);
  const names = Array.from({ length: 501 }, (_, index) => `order-${index}`);
  await mapBounded(names, 4, AbortSignal.timeout(60_000), (name) => {
    const labels = { half: name.endsWith('1') ? 'a' : 'b' };
    return api.admin.create(orders, {
      ...order(name, ['a:1']),
      metadata: { name, namespace: 'team', labels },
    });
  });
});
afterAll(() => api?.[Symbol.asyncDispose]());

async function printed(...args: string[]): Promise<{ lines: string[]; notes: string[] }> {
  const io = quietIo({ env: { KUBECONFIG: api.kubeconfig } });
  await createProgram(io).parseAsync(['node', 'arcctl', ...args]);
  return { lines: io.printed, notes: io.notes };
}

it('lists however many there are, as a table, by name and whole', async () => {
  const table = await printed('get', '-A');
  expect(table.lines).toHaveLength(502);
  expect(table.lines[0]).toMatch(/^NAMESPACE +NAME +PHASE/);
  expect((await printed('get', 'orders', '-n', 'team', '-o', 'name')).lines).toHaveLength(501);
  const whole = JSON.parse((await printed('get', '-n', 'team', '-o', 'json')).lines.join(''));
  expect(whole.items).toHaveLength(501);
  expect(whole.items[0].metadata.managedFields).toBeUndefined();
});

it('selects by label, and says where else to look when there is nothing', async () => {
  expect((await printed('get', '-A', '-l', 'half=a', '-o', 'name')).lines.length).toBeGreaterThan(40);
  expect(await printed('get', '-n', 'other')).toEqual({
    lines: [],
    notes: [expect.stringContaining('all namespaces with -A')],
  });
});

it.each([
  [['get', 'order/a', '-A'], 'names and -A exclude each other'],
  [['get', 'order/a', '-l', 'a=b'], 'names and -l exclude each other'],
  [['get', '--as-group', 'g'], 'require --as'],
])('%j is refused', async (args, message) => {
  await expect(printed(...args)).rejects.toThrow(message);
});
