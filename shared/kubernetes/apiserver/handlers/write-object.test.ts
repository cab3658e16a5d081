import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StoredItem } from '#shared/kubernetes/storage';
import type { QuotaOptions } from '../quota/quota.ts';
import {
  applyType,
  group,
  mergeType,
  startTestServer,
  type TestServer,
  widget,
  widgets,
} from '../testing/test-server.ts';

describe('a write that begins with the cached object', () => {
  let server: TestServer;
  let memory: Map<string, StoredItem | undefined>;
  let freshReads: number;

  beforeEach(async () => {
    server = await startTestServer();
    memory = new Map();
    freshReads = 0;
    useMemory();
  });
  afterEach(() => server.close());

  function useMemory(): void {
    const { store } = server;
    const read = store.get.bind(store);
    store.get = async (key, options) => {
      if (options?.atLeast === 0 && memory.has(key)) return { item: memory.get(key), revision: 1 };
      if (options?.atLeast === undefined && key.includes('/widgets/')) freshReads += 1;
      return read(key, options);
    };
  }

  /** Memory knows the object as it is now, whatever happens to it. */
  async function remember(name: string): Promise<void> {
    const key = `/registry/test.example.com/widgets/ns/${name}`;
    memory.set(key, (await server.store.get(key)).item);
  }

  async function create(name: string) {
    return server.call('POST', widgets, widget(name, { size: 1 }));
  }

  const patch = (name: string, body: object) => server.call('PATCH', `${widgets}/${name}`, body, mergeType);

  it('reads only the cache if that is current', async () => {
    await create('a');
    await remember('a');
    freshReads = 0;
    expect((await patch('a', { spec: { size: 2 } })).body.spec).toMatchObject({ size: 2 });
    expect(freshReads).toBe(0);
  });

  it('loses no write that the cache has missed', async () => {
    await create('a');
    await remember('a');
    await patch('a', { metadata: { labels: { one: '1' } } });
    const { body } = await patch('a', { metadata: { labels: { two: '2' } } });
    expect(body.metadata.labels).toEqual({ one: '1', two: '2' });
  });

  it('writes a change that has an effect only on the newest state', async () => {
    await create('a');
    await remember('a');
    await patch('a', { spec: { size: 2 } });
    const { body } = await patch('a', { spec: { size: 1 } });
    expect(body.spec).toMatchObject({ size: 1 });
    expect(body.metadata.generation).toBe(3);
  });

  it('checks preconditions against the newest state', async () => {
    await create('a');
    await remember('a');
    const { body } = await patch('a', { spec: { size: 2 } });
    const replaced = await server.call('PUT', `${widgets}/a`, { ...body, spec: { size: 3 } });
    expect(replaced.status).toBe(200);
    expect((await patch('a', { metadata: { resourceVersion: '1' }, spec: { size: 4 } })).status).toBe(409);
  });

  it('finds an object that is not cached yet, but not a deleted object that is still cached', async () => {
    await remember('a');
    await create('a');
    expect((await patch('a', { spec: { size: 2 } })).status).toBe(200);
    await create('b');
    await remember('b');
    await server.call('DELETE', `${widgets}/b`);
    expect((await patch('b', { spec: { size: 2 } })).status).toBe(404);
    expect((await patch('b', {})).status).toBe(404);
    const applied = await server.call(
      'PATCH',
      `${widgets}/b?fieldManager=m`,
      widget('b', { size: 5 }),
      applyType,
    );
    expect(applied.status).toBe(201);
  });

  it('warns once, about the newest state', async () => {
    await create('a');
    await remember('a');
    await patch('a', { metadata: { finalizers: ['old'] } });
    const { headers } = await patch('a', { metadata: { finalizers: ['old', 'new'] } });
    expect(headers.get('warning')).toContain('new');
    expect(headers.get('warning')).not.toContain('old');
  });

  it('counts once against the write rate of the namespace, however often it conflicts', async () => {
    let bytes = 1e6;
    const quota: QuotaOptions = {
      group,
      limitsOf: () => [],
      writeRate: () => ({ perMinute: 2.8 * bytes, source: 'of a test' }),
      isExempt: () => false,
    };
    await server.close();
    server = await startTestServer({ quota, now: () => new Date(0) });
    await create('a');
    await remember('a');
    bytes = memory.values().next().value?.value.byteLength ?? 0;
    useMemory();
    expect((await patch('a', { spec: { size: 2 } })).status).toBe(200);
    expect((await patch('a', { spec: { size: 3 } })).status).toBe(200);
    expect((await patch('a', { spec: { size: 4 } })).status).toBe(429);
  });
});
