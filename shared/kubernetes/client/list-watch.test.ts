import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import { randomIntegers } from '#shared/base/testing';
import type { Kind, KubeClient } from './client.ts';
import { createKubeClient } from './create-client.ts';
import type { Change, Known, KnownStates } from './known-objects.ts';
import { type ListWatchHandler, listWatch } from './list-watch.ts';
import { answer, startLoopback, statusBody, until } from './testing/loopback.ts';
import { type LoopbackApi, startLoopbackApi } from './testing/loopback-api.ts';

const secrets: Kind = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };

let api: LoopbackApi;
let control: AbortController;
let running: Promise<void>[];

beforeEach(async () => {
  api = await startLoopbackApi();
  control = new AbortController();
  running = [];
});
afterEach(async () => {
  control.abort();
  await Promise.all(running);
  await api.stop();
});

function follow(extra: Partial<ListWatchHandler<KubeObject>> = {}, options: { inactivityMs?: number } = {}) {
  const reported: string[] = [];
  const state = new Map<string, KubeObject>();
  const syncs: { first: boolean; resourceVersion: string }[] = [];
  const failures: ArcError[] = [];
  const onChange = (change: Change<KubeObject>) => {
    const { name } = (change.after ?? change.before).metadata;
    reported.push(`${change.type} ${name}`);
    if (change.type === 'deleted') state.delete(name);
    else state.set(name, change.after);
  };
  const client = createKubeClient({ server: api.url, userAgent: 'unit' });
  const handler = {
    onChange,
    onSync: (sync: { first: boolean; resourceVersion: string }) => void syncs.push(sync),
    onFailure: (error: ArcError) => void failures.push(error),
    ...extra,
  };
  const backoff = { baseMs: 1, maxMs: 10 };
  const loop = listWatch(client, secrets, handler, {
    signal: control.signal,
    random: () => 0.5,
    backoff,
    ...options,
  });
  running.push(loop.done);
  return { loop, reported, state, syncs, failures, names: () => [...state.keys()].sort() };
}

const watching = () => until('a watch', () => api.openWatches === 1);

async function untilReported(seen: { reported: string[] }, what: string): Promise<void> {
  await until(what, () => seen.reported.includes(what));
}

describe('listWatch', () => {
  it('reports the objects, then that it is synced, then changes as they come', async () => {
    for (const name of ['a', 'b', 'c']) api.put(name);
    const seen = follow();
    expect(seen.loop.synced).toBe(false);
    await watching();
    expect(seen.reported).toEqual(['added a', 'added b', 'added c']);
    expect(seen.syncs).toEqual([{ first: true, resourceVersion: '103' }]);
    expect(seen.loop.synced).toBe(true);
    expect(seen.loop.lastTurn).toBeGreaterThan(0);
    api.put('d');
    api.put('b');
    api.remove('a');
    await untilReported(seen, 'deleted a');
    expect(seen.reported.slice(3)).toEqual(['added d', 'modified b', 'deleted a']);
    expect(seen.loop.known.get('n', 'b')).toEqual(seen.state.get('b'));
    expect(seen.loop.known.size).toBe(3);
    expect(seen.loop.counters).toEqual({ relists: 0, gaps: 0, foundDeleted: 0, watches: 1, changes: 6 });
  });

  it('opens a watch of five to ten minutes at the resourceVersion of the list', async () => {
    follow();
    await watching();
    expect(Object.fromEntries(api.watchQueries[0] ?? [])).toMatchObject({
      allowWatchBookmarks: 'true',
      resourceVersion: '100',
      timeoutSeconds: '450',
    });
  });

  it.each(['end', 'destroy'] as const)(
    'resumes where it was after the watch ended by %s, without a list',
    async (how) => {
      const seen = follow();
      await watching();
      api.put('a');
      await untilReported(seen, 'added a');
      api.inject(
        `${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '101' } } })}\n`,
      );
      api.closeWatches(how);
      api.put('b');
      await untilReported(seen, 'added b');
      expect(seen.reported).toEqual(['added a', 'added b']);
      expect(api.lists).toBe(1);
      expect(seen.loop.counters.gaps).toBe(0);
    },
  );

  it('resumes from a bookmark', async () => {
    const seen = follow();
    await watching();
    api.inject(`${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '177' } } })}\n`);
    api.closeWatches('end');
    await until('the second watch', () => api.watchQueries.length > 1);
    expect(api.watchQueries[1]?.get('resourceVersion')).toBe('177');
    expect(seen.reported).toEqual([]);
  });

  it('lists again after Expired and reports only the difference, deletions included', async () => {
    for (const name of ['a', 'b', 'c']) api.put(name);
    const seen = follow();
    await watching();
    api.closeWatches('destroy');
    api.failNext(1, (response) => void response.destroy());
    api.remove('a');
    api.put('b');
    api.put('d');
    api.compact();
    await untilReported(seen, 'deleted a');
    expect(seen.reported.slice(3)).toEqual(['modified b', 'added d', 'deleted a']);
    await watching();
    api.expireWatches();
    await until('the third list', () => api.lists === 3);
    await until('the third sync', () => seen.syncs.length === 3);
    expect(seen.reported).toHaveLength(6);
    expect(seen.syncs.map(({ first }) => first)).toEqual([true, false, false]);
    expect(seen.loop.counters).toMatchObject({ relists: 2, gaps: 2, foundDeleted: 1 });
  });

  it('reports an object replaced by another of its name as deleted and added', async () => {
    api.put('a', 'first');
    const seen = follow();
    await watching();
    api.remove('a');
    api.put('a', 'second');
    api.expireWatches();
    await until('the new object', () => seen.state.get('a')?.metadata.uid === 'second');
    expect(seen.reported).toEqual(['added a', 'deleted a', 'added a']);
  });

  it('reports each version once', async () => {
    const seen = follow();
    await watching();
    api.put('a');
    await untilReported(seen, 'added a');
    api.inject(`${JSON.stringify({ type: 'MODIFIED', object: seen.state.get('a') })}\n`);
    api.put('b');
    await untilReported(seen, 'added b');
    expect(seen.reported).toEqual(['added a', 'added b']);
  });

  it('survives a restart of the server, however long it is away', async () => {
    const seen = follow();
    await watching();
    await api.stop();
    await until('three failures', () => seen.failures.length >= 3);
    expect(seen.failures.every(({ code }) => code === 'ServiceUnavailable')).toBe(true);
    api.put('a');
    await api.start();
    await untilReported(seen, 'added a');
    expect(api.lists).toBe(1);
  });

  it('resumes after the last complete line if a line is truncated', async () => {
    const seen = follow();
    await watching();
    api.put('a');
    await untilReported(seen, 'added a');
    api.inject('{"type":"ADDED","object":{"metadata":{"name":"ha');
    api.closeWatches('end');
    api.put('b');
    await untilReported(seen, 'added b');
    expect(seen.failures.map(({ code }) => code)).toEqual(['ServiceUnavailable']);
    expect(api.lists).toBe(1);
  });

  it('lists again when the stream cannot be read', async () => {
    const seen = follow();
    await watching();
    api.inject('this is not JSON\n');
    await until('the second list', () => seen.syncs.length === 2);
    expect(seen.failures.map(({ code }) => code)).toEqual(['InternalError']);
    expect(seen.loop.counters).toMatchObject({ relists: 1, gaps: 0 });
  });

  it('reopens a watch that brings nothing for too long', async () => {
    const seen = follow({}, { inactivityMs: 30 });
    await until('the third watch', () => api.watchQueries.length >= 3);
    expect(seen.failures[0]?.code).toBe('Timeout');
    expect(api.lists).toBe(1);
  });

  it('retries after errors, and honors Retry-After up to its own limit', async () => {
    api.put('a');
    const busy = statusBody(429, 'TooManyRequests', 'later', { retryAfterSeconds: 3600 });
    api.failNext(2, (response) => answer(response, 429, busy));
    const seen = follow();
    await untilReported(seen, 'added a');
    api.failNext(2, (response) => answer(response, 403, statusBody(403, 'Forbidden', 'no watch for you')));
    api.closeWatches('end');
    await until('the second sync', () => seen.syncs.length === 2);
    expect(seen.failures.map(({ code }) => code)).toEqual([
      'TooManyRequests',
      'TooManyRequests',
      'Forbidden',
      'Forbidden',
    ]);
  });

  it('yields to the event loop while it compares a long list', async () => {
    const all = Array.from({ length: 1_000 }, (_, at) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: `s${at}`, namespace: 'n', uid: `u${at}`, resourceVersion: '1' },
    }));
    let lists = 0;
    // Answers in no time: turns of the event loop are those that the loop leaves by itself. The last list lacks half of them.
    const client = {
      list: async () => {
        lists += 1;
        return { items: lists < 3 ? all : all.slice(500), resourceVersion: '9' };
      },
      watch: () => {
        if (lists === 3) control.abort();
        throw new ArcError('Expired', 'compacted');
      },
    } as unknown as KubeClient;
    const states = new Map<string, Known<KubeObject>>();
    let looks = 0;
    const counted: KnownStates<KubeObject> = {
      get: (key) => count(states.get(key)),
      set: (key, known) => states.set(key, known),
      delete: (key) => states.delete(key),
      *entries() {
        for (const entry of states.entries()) yield count(entry);
      },
    };
    const count = <T>(value: T): T => {
      looks += 1;
      return value;
    };
    const perTurn: number[] = [];
    const turn = () => {
      perTurn.push(looks);
      looks = 0;
      timer = setImmediate(turn);
    };
    let timer = setImmediate(turn);
    const handler = { states: counted, onChange: () => undefined };
    const loop = listWatch(client, secrets, handler, {
      signal: control.signal,
      backoff: { baseMs: 1, maxMs: 1 },
    });
    await loop.done;
    clearImmediate(timer);
    expect(loop.counters).toMatchObject({ relists: 2, foundDeleted: 500 });
    // All that is listed, and from the second list on all that is known.
    expect(perTurn.reduce((sum, seen) => sum + seen, looks)).toBe(1_000 + 1_000 + 500 + 2 * 1_000);
    expect(Math.max(...perTurn, looks)).toBeLessThanOrEqual(100);
  });

  it('waits longer and longer where each watch brings something and then expires', async () => {
    let lists = 0;
    const lines = [
      { type: 'BOOKMARK', object: { metadata: { resourceVersion: '9' } } },
      { type: 'ERROR', object: statusBody(410, 'Expired', 'compacted') },
    ];
    const server = await startLoopback(({ url = '' }, response) => {
      if (url.includes('watch=true')) response.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      else {
        lists += 1;
        answer(response, 200, { metadata: { resourceVersion: '9' }, items: [] });
      }
    });
    const waits: number[] = [];
    const last = Promise.withResolvers<void>();
    let at = performance.now();
    const onFailure = () => {
      waits.push(performance.now() - at);
      at = performance.now();
      if (waits.length === 6) last.resolve();
    };
    const client = createKubeClient({ server: server.url, userAgent: 'unit' });
    const loop = listWatch(
      client,
      secrets,
      { onChange: () => undefined, onFailure },
      { signal: control.signal, random: () => 0, backoff: { baseMs: 40, maxMs: 1_000 } },
    );
    running.push(loop.done);
    await last.promise;
    control.abort();
    await server.close();
    // The second list comes at once; the ones after it wait 20, 40, 80 and 160 ms.
    expect(waits[5]).toBeGreaterThan(150);
    expect(lists).toBe(6);
  });

  it('waits between attempts while the server is away after it had lost the history', async () => {
    const requests: number[] = [];
    const expired = { type: 'ERROR', object: statusBody(410, 'Expired', 'compacted') };
    const server = await startLoopback(({ url = '' }, response) => {
      requests.push(performance.now());
      if (requests.length > 2) response.destroy();
      else if (url.includes('watch=true')) response.end(`${JSON.stringify(expired)}\n`);
      else answer(response, 200, { metadata: { resourceVersion: '9' }, items: [] });
    });
    const client = createKubeClient({ server: server.url, userAgent: 'unit' });
    const loop = listWatch(
      client,
      secrets,
      { onChange: () => undefined },
      { signal: control.signal, random: () => 0, backoff: { baseMs: 100, maxMs: 1_000 } },
    );
    running.push(loop.done);
    await until('the fifth request', () => requests.length >= 5);
    control.abort();
    await server.close();
    // The second list comes at once, and again after 50 and 100 ms.
    const [first = 0, , , , fifth = 0] = requests;
    expect(fifth - first).toBeGreaterThan(140);
  });

  it('lists again where a restored backup has set the server back', async () => {
    let version = 100;
    let watch: ServerResponse | undefined;
    const server = await startLoopback(({ url = '' }, response) => {
      if (url.includes('watch=true')) {
        // One of a version that is still to come is accepted, and brings nothing.
        watch = response;
        response.flushHeaders();
        return;
      }
      const name = version === 100 ? 'lost' : 'restored';
      const item = { metadata: { name, namespace: 'n', uid: name, resourceVersion: String(version) } };
      answer(response, 200, { metadata: { resourceVersion: String(version) }, items: [item] });
    });
    const reported: string[] = [];
    const loop = listWatch(
      createKubeClient({ server: server.url, userAgent: 'unit' }),
      secrets,
      { onChange: ({ type, before, after }) => reported.push(`${type} ${(after ?? before)?.metadata.name}`) },
      { signal: control.signal, backoff: { baseMs: 1, maxMs: 10 } },
    );
    running.push(loop.done);
    await until('the watch', () => watch);
    version = 50;
    watch?.destroy();
    await until('the restored object', () => reported.length === 3);
    control.abort();
    await server.close();
    expect(reported).toEqual(['added lost', 'added restored', 'deleted lost']);
    expect(loop.counters).toMatchObject({ relists: 1, gaps: 1 });
  });

  it('starts the list again when it expires between pages', async () => {
    for (const name of ['a', 'b', 'c']) api.put(name);
    api.expireNextPage();
    const seen = follow();
    await watching();
    expect(api.lists).toBe(2);
    expect(seen.reported).toEqual(['added a', 'added b', 'added c']);
    expect(seen.syncs).toHaveLength(1);
    expect(seen.loop.counters).toMatchObject({ relists: 0, gaps: 0 });
  });

  it.each([
    ['pages that fit into memory', true, [500, 63, 8, 9, 10]],
    ['one page of a server that knows no other', false, [500, 63, 8, 1]],
  ])('lists large objects in %s', async (_, hasPages, limits) => {
    const asked: number[] = [];
    const item = (at: number) => ({
      metadata: { name: `s${at}`, namespace: 'n', uid: `u${at}`, resourceVersion: '1' },
      data: { large: 'x'.repeat(1024 * 1024) },
    });
    const server = await startLoopback(({ url = '' }, response) => {
      const query = new URL(url, 'http://x').searchParams;
      if (query.has('watch')) return void response.flushHeaders();
      const limit = Number(query.get('limit'));
      const from = Number(query.get('continue') ?? 0);
      const to = hasPages ? Math.min(20, from + limit) : 20;
      asked.push(limit);
      const items = Array.from({ length: to - from }, (_item, at) => item(from + at));
      const next = to < 20 ? { continue: String(to) } : {};
      answer(response, 200, { metadata: { resourceVersion: '9', ...next }, items });
    });
    const synced = Promise.withResolvers<void>();
    const names: string[] = [];
    const loop = listWatch(
      createKubeClient({ server: server.url, userAgent: 'unit' }),
      secrets,
      {
        keep: ({ metadata }) => metadata.name,
        onChange: ({ after }) => void names.push(after?.metadata.name ?? ''),
        onSync: () => synced.resolve(),
        onFailure: synced.reject,
      },
      { signal: control.signal },
    );
    running.push(loop.done);
    await synced.promise;
    control.abort();
    await server.close();
    expect(names).toEqual(Array.from({ length: 20 }, (_name, at) => `s${at}`));
    expect(asked).toEqual(limits);
  });

  it('keeps only the projection, and gives it as before', async () => {
    const changes: Change<KubeObject, string>[] = [];
    const client = createKubeClient({ server: api.url, userAgent: 'unit' });
    api.put('a');
    const loop = listWatch(
      client,
      secrets,
      {
        keep: (object) => `${object.metadata.name}@${object.metadata.resourceVersion}`,
        onChange: (change: Change<KubeObject, string>) => void changes.push(change),
      },
      { signal: control.signal },
    );
    running.push(loop.done);
    await watching();
    api.put('a');
    await until('the change', () => changes.length === 2);
    expect(changes[1]).toMatchObject({
      type: 'modified',
      before: 'a@101',
      after: { metadata: { name: 'a' } },
    });
    expect([...loop.known.values()]).toEqual(['a@102']);
  });

  it('rejects when a handler throws: that is a defect of the program', async () => {
    api.put('a');
    const client = createKubeClient({ server: api.url, userAgent: 'unit' });
    const onChange = () => {
      throw new Error('handler bug');
    };
    await expect(listWatch(client, secrets, { onChange }, { signal: control.signal }).done).rejects.toThrow(
      'handler bug',
    );
  });

  it('ends when its signal is aborted, at any point', async () => {
    const seen = follow();
    await watching();
    control.abort();
    await seen.loop.done;
    await until('the watch to be closed', () => api.openWatches === 0);
    const late = listWatch(
      createKubeClient({ server: api.url, userAgent: 'unit' }),
      secrets,
      { onChange: () => undefined },
      { signal: control.signal },
    );
    await late.done;
    expect(late.synced).toBe(false);
  });

  it('ends up with the state of the server through random faults', async () => {
    const random = randomIntegers();
    const seen = follow();
    const faults = [
      () => api.closeWatches('end'),
      () => api.closeWatches('destroy'),
      () => api.expireWatches(),
      () => api.compact(),
      () => api.inject('{"type":'),
      () => api.failNext(2, (response) => void response.destroy()),
      () => api.failNext(1, (response) => answer(response, 500, {})),
    ];
    for (let turn = 0; turn < 300; turn += 1) {
      const name = `s${random(0, 6)}`;
      if (random(0, 3) === 0) api.remove(name);
      else api.put(name);
      if (random(0, 5) === 0) faults[random(0, faults.length)]?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    api.closeWatches('destroy');
    api.put('last');
    await until('the state of the server', () => seen.names().join() === api.names().join());
    expect(seen.loop.known.size).toBe(api.names().length);
  });
});
