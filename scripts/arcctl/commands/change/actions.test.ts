import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { namespaces, orders } from '#shared/domain';
import { order } from '../../../../shared/domain/testing/objects.ts';
import { startApi, type TestApi } from '../../../../test/fixtures/standalone/api-server.ts';
import { orderActions } from '../../core/order-actions.ts';
import { createProgram } from '../../program.ts';
import { type QuietIo, quietIo } from '../../testing/quiet-io.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  await api.admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });
  for (const name of ['a', 'b', 'c']) {
    const { metadata, ...rest } = order(name, ['a:1']);
    await api.admin.create(orders, { ...rest, metadata: { name: metadata.name, namespace: 'default' } });
  }
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => api?.[Symbol.asyncDispose]());

async function run(over: Partial<QuietIo>, ...args: string[]): Promise<QuietIo> {
  const io = quietIo({ env: { KUBECONFIG: api.kubeconfig }, ...over });
  await createProgram(io).parseAsync(['node', 'arcctl', ...args]);
  return io;
}

/** What the API answers to the force of one Order; undefined: that it is done. */
function forcing(answer: (name: string) => ArcError | undefined): string[] {
  const asked: string[] = [];
  const force = orderActions.find(({ name }) => name === 'force');
  if (!force) throw new Error('there is no force');
  vi.spyOn(force, 'act').mockImplementation(async (_cluster, _kind, { name }) => {
    asked.push(name);
    const refusal = answer(name);
    if (refusal) throw refusal;
  });
  return asked;
}

const busy = (retryAfterSeconds: number) =>
  new ArcError('TooManyRequests', 'the namespace has used up its limit', { details: { retryAfterSeconds } });

describe('an action for many Orders', () => {
  it('waits as long as the API asks, says so, and does each once', async () => {
    let refusals = 1;
    const asked = forcing((name) => (name === 'b' && refusals-- > 0 ? busy(1) : undefined));
    const began = performance.now();
    const io = await run({}, 'force', '--all', '--yes');
    expect(performance.now() - began).toBeGreaterThan(990);
    expect(asked).toEqual(['a', 'b', 'b', 'c']);
    expect(io.printed).toEqual(
      ['a', 'b', 'c'].map((name) => expect.stringContaining(`${name} force requested`)),
    );
    expect(io.notes).toEqual([expect.stringMatching(/used up its limit\nRetrying b in 1 s; 2 remaining\./)]);
  });

  it('ends when it would wait for too long, with what is left to do', async () => {
    forcing((name) => (name === 'a' ? undefined : busy(601)));
    const failure = { exitCode: 5, message: 'the namespace has used up its limit\nNot done yet: b c' };
    await expect(run({}, 'force', '--all', '--yes')).rejects.toMatchObject(failure);
  });
});

describe.each(['force', 'retry', 'cancel'])('%s --all', (verb) => {
  it('is refused without a terminal and --yes', async () => {
    const failure = { exitCode: 2, message: expect.stringContaining('--yes') };
    await expect(run({}, verb, '--all')).rejects.toMatchObject(failure);
  });

  it('asks on a terminal, and does nothing unless the answer is yes', async () => {
    const questions: string[] = [];
    const answering = (answer: string): Partial<QuietIo> => ({
      isInteractive: true,
      ask: async (question) => String(questions.push(question) && answer),
    });
    for (const answer of ['', 'n', 'yessir'])
      await expect(run(answering(answer), verb, '--all')).rejects.toMatchObject({ exitCode: 1 });
    expect(questions[0]).toBe(`arcctl ${verb}: all 3 Orders of namespace default? [y/N] `);
    expect((await run(answering('y'), verb, '--all')).printed).toHaveLength(3);
    expect((await run({ ...answering('n') }, verb, 'a')).printed).toHaveLength(1);
  });
});

it('says of a retry that there is nothing to retry', async () => {
  const { metadata } = (await api.admin.get(orders, { namespace: 'default', name: 'c' })) ?? {};
  const status = { status: { phase: 'Succeeded', observedGeneration: metadata?.generation ?? 0 } };
  await api.admin.mergePatch(orders, { namespace: 'default', name: 'c' }, status, { subresource: 'status' });
  const { printed, notes } = await run({ isTerminal: true }, 'retry', 'b', 'c', '-n', 'default');
  expect(printed).toEqual([
    expect.stringMatching(/\/b retry requested$/),
    expect.stringMatching(/\/c has succeeded, nothing to retry; use force to run it again$/),
  ]);
  expect(notes).toEqual(['Follow it with: arcctl watch b -n default']);
});

it('suspend --all does not ask', async () => {
  expect((await run({}, 'suspend', '--all')).printed).toHaveLength(3);
});
