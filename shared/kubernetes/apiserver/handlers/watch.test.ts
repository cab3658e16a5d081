import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { eventually } from '../../../base/testing/eventually.ts';
import type { KubeObject } from '../kinds/definition.ts';
import {
  group,
  linesOf,
  mergeType,
  namespace,
  startTestServer,
  type TestServer,
  widget,
  widgets,
} from '../testing/test-server.ts';

let server: TestServer;
const open: AbortController[] = [];
beforeAll(async () => {
  server = await startTestServer();
});
afterEach(() => {
  for (const stop of open.splice(0)) stop.abort();
});
afterAll(() => server.close());

interface Watched {
  next(): Promise<{ type: string; object: KubeObject } | undefined>;
  stop: AbortController;
}

async function watch(query: string, accept = 'application/json', path = widgets): Promise<Watched> {
  const stop = new AbortController();
  open.push(stop);
  const response = await server.fetch(`${path}?watch=1&${query}`, {
    headers: { accept },
    signal: stop.signal,
  });
  expect(response.status).toBe(200);
  const lines = linesOf(response);
  return { stop, next: async () => (await lines.next()).value ?? undefined };
}

async function make(name: string, color = 'red'): Promise<KubeObject> {
  return (await server.call('POST', widgets, widget(name, { color }))).body;
}

async function revision(): Promise<string> {
  return (await server.call('GET', widgets)).body.metadata.resourceVersion;
}

describe('watch', () => {
  it('sends the current objects first, then events', async () => {
    const old = await make('old');
    const watched = await watch('fieldSelector=metadata.name%3Dold');
    expect(await watched.next()).toEqual({ type: 'ADDED', object: old });
    const patched = await server.call('PATCH', `${widgets}/old`, { spec: { size: 1 } }, mergeType);
    expect(await watched.next()).toEqual({ type: 'MODIFIED', object: patched.body });
    await server.call('DELETE', `${widgets}/old`);
    const deleted = await watched.next();
    expect(deleted?.type).toBe('DELETED');
    expect(deleted?.object.spec).toEqual(patched.body.spec);
    expect(Number(deleted?.object.metadata.resourceVersion)).toBeGreaterThan(
      Number(patched.body.metadata.resourceVersion),
    );
  });

  it('encodes initial events only as fast as the client reads', async () => {
    const note = 'x'.repeat(150_000);
    for (let at = 0; at < 8; at += 1)
      await server.call(
        'POST',
        widgets,
        widget(`large-${at}`, { free: { note } }, { labels: { size: 'large' } }),
      );
    const response = await server.fetch(`${widgets}?watch=true&labelSelector=size%3Dlarge`);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const sizes: number[] = [];
    while (sizes.reduce((sum, size) => sum + size, 0) < 8 * note.length)
      sizes.push((await reader.read()).value?.byteLength ?? 0);
    await reader.cancel();
    expect(Math.max(...sizes)).toBeLessThan(4 * note.length);
    for (let at = 0; at < 8; at += 1) await server.call('DELETE', `${widgets}/large-${at}`);
  });

  it('does not keep a watch open for HEAD, whose response has no body', async () => {
    const watches = vi.spyOn(server.store, 'watch');
    const response = await server.fetch(`${widgets}?watch=true`, { method: 'HEAD' });
    expect([response.status, response.body]).toEqual([200, null]);
    await eventually('the watch to end', 1_000, () =>
      expect(watches.mock.calls.map(([, { signal }]) => signal.aborted)).not.toContain(false),
    );
    watches.mockRestore();
  });

  it('replays the events after a revision', async () => {
    const from = await revision();
    const one = await make('replay1');
    const two = await make('replay2');
    const watched = await watch(`resourceVersion=${from}`);
    expect(await watched.next()).toEqual({ type: 'ADDED', object: one });
    expect(await watched.next()).toEqual({ type: 'ADDED', object: two });
  });

  it('sends ADDED and DELETED when an object enters and leaves the field selector', async () => {
    const from = await revision();
    const watched = await watch(`resourceVersion=${from}&fieldSelector=spec.color%3Dgreen`);
    const made = await make('turn', 'red');
    const entered = await server.call('PATCH', `${widgets}/turn`, { spec: { color: 'green' } }, mergeType);
    const left = await server.call('PATCH', `${widgets}/turn`, { spec: { color: 'red' } }, mergeType);
    expect(made.metadata.name).toBe('turn');
    expect(await watched.next()).toEqual({ type: 'ADDED', object: entered.body });
    const gone = await watched.next();
    expect(gone?.type).toBe('DELETED');
    expect(gone?.object.spec).toEqual(entered.body.spec);
    expect(gone?.object.metadata.resourceVersion).toBe(left.body.metadata.resourceVersion);
  });

  it('does not send objects whose names have the selected name as a prefix', async () => {
    const from = await revision();
    const watched = await watch(`resourceVersion=${from}&fieldSelector=metadata.name%3Dab`);
    await make('abc');
    const ab = await make('ab');
    expect(await watched.next()).toEqual({ type: 'ADDED', object: ab });
  });

  it('ends a compacted watch with an ERROR event', async () => {
    await make('early');
    const from = await revision();
    await make('compact1');
    await make('compact2');
    await server.store.compact(await server.store.revision());
    const watched = await watch(`resourceVersion=${from}`);
    const error = await watched.next();
    expect(error).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
    expect(await watched.next()).toBeUndefined();
  });

  it('marks the end of the initial events of a WatchList', async () => {
    const { body: list } = await server.call('GET', widgets);
    const watched = await watch(
      'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
    );
    for (const object of list.items) expect(await watched.next()).toEqual({ type: 'ADDED', object });
    const mark = await watched.next();
    expect(mark).toMatchObject({
      type: 'BOOKMARK',
      object: {
        kind: 'Widget',
        apiVersion: `${group}/v1`,
        metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } },
      },
    });
    expect(Number(mark?.object.metadata.resourceVersion)).toBeGreaterThanOrEqual(
      Number(list.metadata.resourceVersion),
    );
  });

  it('responds to a WatchList at a future revision with an ERROR event, to a list with 504', async () => {
    const future = Number(await revision()) + 1_000;
    const query = `resourceVersion=${future}&resourceVersionMatch=NotOlderThan`;
    const [watched, listed] = await Promise.all([
      watch(`${query}&sendInitialEvents=true&allowWatchBookmarks=true`),
      server.call('GET', `${widgets}?${query}`),
    ]);
    expect(await watched.next()).toMatchObject({
      type: 'ERROR',
      object: {
        kind: 'Status',
        code: 504,
        reason: 'Timeout',
        details: { causes: [{ reason: 'ResourceVersionTooLarge' }], retryAfterSeconds: 1 },
      },
    });
    expect(await watched.next()).toBeUndefined();
    expect(listed.status).toBe(504);
  });

  it('sends no bookmark for a revision that the store has not reached', async () => {
    const from = Number(await revision());
    const query = 'allowWatchBookmarks=true&timeoutSeconds=1';
    const future = await watch(`resourceVersion=${from + 1_000}&${query}`);
    const present = await watch(`resourceVersion=${from}&${query}`);
    expect(await future.next()).toBeUndefined();
    expect(await present.next()).toMatchObject({ type: 'BOOKMARK' });
  });

  it('requires resourceVersionMatch for a WatchList', async () => {
    expect((await server.call('GET', `${widgets}?watch=1&sendInitialEvents=true`)).status).toBe(422);
  });

  it('ends after timeoutSeconds with a bookmark that includes the writes of other kinds', async () => {
    const from = await revision();
    const watched = await watch(`resourceVersion=${from}&allowWatchBookmarks=true&timeoutSeconds=1`);
    const other = await server.call('POST', '/api/v1/namespaces', namespace('foreign'));
    const mark = await watched.next();
    expect(mark?.type).toBe('BOOKMARK');
    expect(Number(mark?.object.metadata.resourceVersion)).toBeGreaterThanOrEqual(
      Number(other.body.metadata.resourceVersion),
    );
    expect(await watched.next()).toBeUndefined();
  });

  it('sends column definitions only in the first event of a Table', async () => {
    const from = await revision();
    const watched = await watch(`resourceVersion=${from}`, 'application/json;as=Table;v=v1;g=meta.k8s.io');
    await make('table1');
    await make('table2');
    const first = await watched.next();
    const second = await watched.next();
    expect(first?.object.kind).toBe('Table');
    expect(first?.object.columnDefinitions).toHaveLength(3);
    expect(second?.object.columnDefinitions ?? []).toEqual([]);
    expect(second?.object.rows).toMatchObject([{ cells: ['table2', 'red', expect.any(String)] }]);
  });

  it('sends metadata only on request', async () => {
    const from = await revision();
    const watched = await watch(
      `resourceVersion=${from}`,
      'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    );
    const made = await make('partial');
    expect(await watched.next()).toEqual({
      type: 'ADDED',
      object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: made.metadata },
    });
  });

  it('sends the same history to every watch', async () => {
    const from = await revision();
    const watchers = await Promise.all(Array.from({ length: 10 }, () => watch(`resourceVersion=${from}`)));
    const made = await Promise.all(Array.from({ length: 30 }, (_, index) => make(`fan${index}`)));
    const order = made.map((object) => Number(object.metadata.resourceVersion)).sort((a, b) => a - b);
    for (const watched of watchers) {
      const seen: number[] = [];
      for (let count = 0; count < 30; count++)
        seen.push(Number((await watched.next())?.object.metadata.resourceVersion));
      expect(seen).toEqual(order);
    }
  });
});

describe('shutdown', () => {
  it('ends watches and fails readyz', async () => {
    const own = await startTestServer();
    const response = await own.fetch(`${widgets}?watch=1`);
    const lines = linesOf(response);
    await own.api.close();
    expect((await lines.next()).done).toBe(true);
    expect((await own.fetch('/readyz')).status).toBe(500);
    expect((await own.fetch('/livez')).status).toBe(200);
    await own.close();
  });
});
