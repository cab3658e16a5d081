import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { namespaces, orders } from '#shared/domain';
import { order } from '../../../../shared/domain/testing/objects.ts';
import { startApi, type TestApi } from '../../../../test/fixtures/standalone/api-server.ts';
import { createProgram } from '../../program.ts';
import { quietIo } from '../../testing/quiet-io.ts';

let api: TestApi;
let folder: string;
beforeAll(async () => {
  api = await startApi();
  folder = await mkdtemp(path.join(os.tmpdir(), 'diff-'));
  await api.admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
  const { spec } = order('app', ['a:1']);
  await api.admin.create(orders, { ...order('app', []), metadata: { name: 'app', namespace: 'team' }, spec });
});
afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** The value with the keys of all objects the other way round. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, each]) => [key, reversed(each)]),
  );
}

async function diff(image: string): Promise<string[]> {
  const file = path.join(folder, 'order.json');
  const wanted = { ...order('app', [image]), metadata: { name: 'app', namespace: 'team' } };
  await writeFile(file, JSON.stringify(reversed(wanted)));
  const io = quietIo({ env: { KUBECONFIG: api.kubeconfig } });
  const running = createProgram(io).parseAsync(['node', 'arcctl', 'diff', '-f', file]);
  await running.catch(() => undefined);
  return io.printed.filter((line) => /^[+-] /.test(line));
}

it('shows what differs, and not another order of keys', async () => {
  expect(await diff('a:1')).toEqual([]);
  expect(await diff('a:2')).toEqual([
    expect.stringMatching(/^- +image: a:1$/),
    expect.stringMatching(/^\+ +image: a:2$/),
  ]);
});
