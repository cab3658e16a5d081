import { describe, expect, it } from 'vitest';
import { artifactWorkflows, type Order, orders, planOrder } from '#shared/domain';
import { contextOf, eventOf } from '../../shared/conduit/runtime/testing/handler-context.ts';
import { endpoint, ociTemplate, ociType, order } from '../../shared/domain/testing/objects.ts';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { handle } from './index.ts';

const endpoints = [endpoint('source'), endpoint('destination')];

/** One process of roll-up-order beside an Order of one artifact that runs, and what it reads. */
function setUp() {
  const one = order('order', ['a:1']);
  const [artifact] = planOrder(one, { endpoints, types: [ociType()] }).artifacts;
  if (artifact?.state !== 'ready') throw new Error('not ready');
  const child = (phase: 'Running' | 'Succeeded') => ({ ...artifact.workflow, status: { phase } });
  const api = new FakeApi([one, ...endpoints, ociTemplate(), ociType(), child('Running')]);
  const context = contextOf(api);
  const reads: string[] = [];
  api.before = ({ verb, resource }) => void (/^(get|list)$/.test(verb) && reads.push(`${verb} ${resource}`));
  return {
    api,
    child,
    context,
    reads,
    rollUp: async (): Promise<Order['status']> => {
      reads.length = 0;
      await handle(context, eventOf(one));
      return api.read(orders, one.metadata)?.status;
    },
  };
}

describe('planForStatus', () => {
  it('reads Endpoints, types and templates once, while only ArtifactWorkflows change', async () => {
    const { api, child, reads, rollUp } = setUp();
    await rollUp();
    expect(reads).toContain('get endpoints');
    api.put(child('Succeeded'));
    expect(await rollUp()).toMatchObject({ phase: 'Succeeded' });
    expect(reads).toEqual(['get orders', 'list artifactworkflows']);
  });

  it('reads them again when it is called and sees nothing to do', async () => {
    const { api, rollUp } = setUp();
    const before = await rollUp();
    api.put({ ...endpoint('source'), status: { observedGeneration: 1, secretGeneration: 2 } });
    const after = await rollUp();
    expect(after?.secretGenerations).toMatchObject({ source: 2 });
    expect(after?.inputs).not.toBe(before?.inputs);
  });

  it('does not take a status that another process has written back to inputs of its own', async () => {
    const { api, child, reads, rollUp } = setUp();
    const before = await rollUp();
    api.put({ ...endpoint('source'), status: { observedGeneration: 1, secretGeneration: 2 } });
    await handle(contextOf(api), eventOf(order('order', ['a:1'])));
    const written = api.read(orders, order('order', ['a:1']).metadata)?.status;
    expect(written?.inputs).not.toBe(before?.inputs);
    for (const one of api.all(artifactWorkflows)) api.put({ ...child('Succeeded'), metadata: one.metadata });
    expect((await rollUp())?.inputs).toBe(written?.inputs);
    expect(reads).toContain('get endpoints');
  });

  it('takes those of another Order for a first status, for a second', async () => {
    const { api, context, reads, rollUp } = setUp();
    await rollUp();
    const other = order('other', ['b:1']);
    api.put(other);
    reads.length = 0;
    await handle(context, eventOf(other));
    expect(reads).toEqual(['get orders', 'list artifactworkflows']);
    const third = order('third', ['c:1']);
    api.put(third);
    await handle({ ...context, now: new Date(context.now.getTime() + 1_000) }, eventOf(third));
    expect(reads).toContain('get endpoints');
  });

  it('does not keep large ones', async () => {
    const { api, child, reads, rollUp } = setUp();
    const large = endpoint('source');
    api.put({ ...large, spec: { ...large.spec, remoteURL: `https://example.com/${'x'.repeat(300_000)}` } });
    await rollUp();
    api.put(child('Succeeded'));
    await rollUp();
    expect(reads).toContain('get endpoints');
  });

  it('reads them again for an edited Order', async () => {
    const { api, reads, rollUp } = setUp();
    await rollUp();
    const one = api.all(orders)[0];
    if (one === undefined) throw new Error('no Order');
    api.put({ ...one, metadata: { ...one.metadata, generation: 2 } });
    await rollUp();
    expect(reads).toContain('get endpoints');
  });
});
