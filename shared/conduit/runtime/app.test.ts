import { describe, expect, it, vi } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { createMetrics } from '#shared/base/telemetry';
import { toBinaryRequest } from '#shared/conduit/events';
import { createKubeClient, type Kind } from '#shared/kubernetes/client';
import { FakeApi } from '../../kubernetes/client/testing/fake-api/fake-api.ts';
import { type AppDependencies, createApp } from './app.ts';
import type { Context, Fn, StepEvent } from './function.ts';
import { createLifecycle } from './lifecycle.ts';
import { orderEvent, parts, post, trace, until } from './testing/requests.ts';
import { times } from './times.ts';

function appOf(handle: Fn['handle'], extra: Partial<AppDependencies> = {}, fn: Partial<Fn> = {}) {
  const given = parts();
  const metrics = createMetrics();
  return { ...given, metrics, app: createApp({ handle, ...fn }, { ...given, metrics, ...extra }) };
}

const done: Fn['handle'] = async () => undefined;
const secrets: Kind = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };

describe('POST /', () => {
  it('gives the handler the event, the time of arrival and a log that names both', async () => {
    const seen: { context: Context; event: StepEvent }[] = [];
    const { app, lines, metrics } = appOf(async (context, event) => {
      seen.push({ context, event });
      context.log.info('working');
      return undefined;
    });
    const answer = await app.request('/', post(trace));
    expect(answer.status).toBe(204);
    expect(await answer.text()).toBe('');
    expect(seen[0]?.event).toMatchObject({
      kind: 'Order',
      namespace: 'n',
      name: 'o',
      uid: 'u',
      reason: 'generation 2',
    });
    expect(seen[0]?.context.now).toEqual(new Date('2026-01-02T03:04:07Z'));
    expect(seen[0]?.context.trace).toEqual(trace);
    expect(lines[0]).toMatchObject({
      msg: 'working',
      event: 'u/decompose/w/12',
      object: 'Order n/o',
      reason: 'generation 2',
      traceparent: trace.traceparent,
    });
    expect(metrics.expose()).toContain('faas_queue_latency_sum{faas_name="unit"} 2\n');
  });

  it('takes structured mode too', async () => {
    const { app } = appOf(done);
    const headers = { 'content-type': 'application/cloudevents+json; charset=utf-8' };
    const answer = await app.request('/', { method: 'POST', headers, body: JSON.stringify(orderEvent()) });
    expect(answer.status).toBe(204);
  });

  it('keeps a slot free for an event of another namespace, and lets those that wait take turns', async () => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const handle: Fn['handle'] = (_, { namespace, name }) => {
      begun.push(`${namespace}/${name}`);
      return new Promise((resolve) => ends.push(() => resolve(undefined)));
    };
    const { app } = appOf(handle, {}, { concurrency: 3 });
    const sent = ['a/1', 'a/2', 'a/3', 'a/4', 'b/1'].map((key) => {
      const [namespace = '', name = ''] = key.split('/');
      const event = orderEvent().cloneWith({ namespace, name });
      return app.request('/', { method: 'POST', ...toBinaryRequest(event) });
    });
    await until('all slots in use', () => begun.length === 3);
    expect(begun).toEqual(['a/1', 'a/2', 'b/1']);
    for (let ended = 0; ended < 5; ended += 1) {
      await until('the next event', () => ends.length > ended);
      expect(begun.length - ended).toBeLessThanOrEqual(3);
      ends[ended]?.();
    }
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([204, 204, 204, 204, 204]);
  });

  it.each([
    ['with', trace],
    ['without', undefined],
  ])('bounds the lists of a handler, with and without a trace: %s', async (_what, given) => {
    const annotations = { filler: 'x'.repeat(2 ** 20) };
    const pods: Kind = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
    const objects = Array.from({ length: 17 }, (_, at) => ({
      ...{ apiVersion: 'v1', kind: 'Pod' },
      metadata: { name: `o${at}`, namespace: 'n', annotations },
    }));
    const { app, lines } = appOf(
      async ({ api }) => {
        await api.list(pods, { namespace: 'n', maxBytes: 20 * 2 ** 20 });
        await api.list(pods, { namespace: 'n' });
      },
      { api: new FakeApi(objects).client },
    );
    expect((await app.request('/', post(given))).status).toBe(500);
    expect(lines[0]).toMatchObject({
      err: { code: 'RequestEntityTooLarge', message: expect.stringContaining('more than 16 MiB') },
    });
  });

  it('sends the trace of the event with every API request of its handler, and no other trace', async () => {
    const asked: (string | null)[][] = [];
    const api = createKubeClient({
      server: 'http://127.0.0.1:9',
      userAgent: 'unit',
      fetch: async (_, init) => {
        const headers = new Headers(init?.headers);
        asked.push([headers.get('traceparent'), headers.get('tracestate')]);
        return Response.json({ metadata: {} });
      },
    });
    const handle: Fn['handle'] = async (context) =>
      void (await context.api.get(secrets, { name: 'a', namespace: 'n' }));
    const { app } = appOf(handle, { api });
    const other = { traceparent: trace.traceparent.replace(/01$/, '00') };
    const wrong = { traceparent: `${trace.traceparent}0`, tracestate: 'a=b' };
    for (const one of [trace, other, wrong]) expect((await app.request('/', post(one))).status).toBe(204);
    expect(asked).toEqual([
      [trace.traceparent, 'a=b'],
      [other.traceparent, null],
      [null, null],
    ]);
  });

  it.each([
    ['that rejects', () => Promise.reject(new ArcError('Conflict', 'lost')), 409, 'Conflict'],
    [
      'that throws at once',
      () => {
        throw new TypeError('x is undefined');
      },
      500,
      'InternalError',
    ],
    ['that rejects with no error', () => Promise.reject('odd'), 500, 'InternalError'],
  ] as [string, Fn['handle'], number, string][])(
    'answers a handler %s',
    async (_, handle, status, reason) => {
      const { app, lines, metrics } = appOf(handle);
      const answer = await app.request('/', post());
      expect(answer.status).toBe(status);
      expect(await answer.json()).toMatchObject({ reason });
      expect(metrics.expose()).toContain(`faas_errors{faas_name="unit",code="${reason}"} 1\n`);
      expect(lines.at(-1)).toMatchObject({ level: status === 500 ? 'error' : 'info', err: { code: reason } });
    },
  );

  it.each([
    ['no event', { headers: {}, body: '{}' }, 400],
    ['an event without id', { headers: { ...post().headers, 'ce-id': '' }, body: '' }, 400],
    ['another type', { headers: { ...post().headers, 'ce-type': 'other' }, body: '' }, 422],
    ['a batch', { headers: { 'content-type': 'application/cloudevents-batch+json' }, body: '[]' }, 415],
    ['an event over 64 KiB', { headers: post().headers, body: 'x'.repeat(65_537) }, 413],
  ])('refuses %s without calling the handler', async (_, request, status) => {
    let asked = 0;
    const { app } = appOf(async () => {
      asked += 1;
      return undefined;
    });
    const answer = await app.request('/', { method: 'POST', ...request });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toHaveProperty('reason');
    expect(asked).toBe(0);
  });

  it('answers 503 at the deadline and aborts the signal, whether or not the handler listens', async () => {
    const signals: AbortSignal[] = [];
    const { app } = appOf(
      (context) => {
        signals.push(context.signal);
        return new Promise(() => undefined);
      },
      { deadlineMs: 20 },
    );
    const answer = await app.request('/', post());
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ reason: 'Timeout' });
    expect(signals[0]?.reason).toMatchObject({ code: 'Timeout' });
  });

  it('frees the slot when the event does not arrive, also for a dead letter sink', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const unread: string[] = [];
      const { app } = appOf(done, { maxInFlight: 1 }, { unreadable: (_, error) => unread.push(error.code) });
      const body = new ReadableStream({ pull: () => new Promise(() => undefined) });
      const slow = app.request('/', { ...post(), body, duplex: 'half' } as RequestInit);
      await vi.advanceTimersByTimeAsync(times.arrival * 1000 - 1);
      expect((await app.request('/', post())).status).toBe(429);
      await vi.advanceTimersByTimeAsync(1);
      expect((await slow).status).toBe(503);
      expect((await app.request('/', post())).status).toBe(204);
      expect(unread).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('answers 429 when too many deliveries are in flight', async () => {
    const release = Promise.withResolvers<undefined>();
    let inHand = 0;
    const { app } = appOf(
      () => {
        inHand += 1;
        return release.promise;
      },
      { maxInFlight: 2 },
    );
    const first = [app.request('/', post()), app.request('/', post())];
    await until('two events in hand', () => inHand === 2);
    const refused = await app.request('/', post());
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    release.resolve(undefined);
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([204, 204]);
    expect((await app.request('/', post())).status).toBe(204);
  });

  it('answers 503 before it is ready and while it is stopping', async () => {
    const lifecycle = createLifecycle();
    const { app } = appOf(done, { lifecycle });
    expect((await app.request('/', post())).status).toBe(503);
    lifecycle.ready = true;
    expect((await app.request('/', post())).status).toBe(204);
    lifecycle.drain();
    const late = await app.request('/', post());
    expect([late.status, late.headers.get('connection')]).toEqual([503, 'close']);
  });
});

describe('the other paths', () => {
  it.each([
    ['GET', '/', 405, 'POST'],
    ['PUT', '/', 405, 'POST'],
    ['POST', '/metrics', 405, 'GET'],
    ['POST', '/health/liveness', 405, 'GET'],
    ['GET', '/elsewhere', 404, null],
  ])('%s %s is %i', async (method, path, status, allow) => {
    const answer = await appOf(done).app.request(path, { method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([status, allow]);
  });

  it('report liveness and readiness separately', async () => {
    const lifecycle = createLifecycle();
    const state = { live: true, ready: true };
    const { app } = appOf(done, { lifecycle }, { liveness: () => state.live, readiness: () => state.ready });
    const both = async () => [
      (await app.request('/health/liveness')).status,
      (await app.request('/health/readiness')).status,
    ];
    expect(await both()).toEqual([200, 503]);
    lifecycle.ready = true;
    expect(await both()).toEqual([200, 200]);
    state.ready = false;
    expect(await both()).toEqual([200, 503]);
    Object.assign(state, { live: false, ready: true });
    expect(await both()).toEqual([503, 200]);
    lifecycle.drain();
    expect(await both()).toEqual([503, 503]);
  });

  it('show the metrics as Prometheus reads them', async () => {
    const { app } = appOf(done);
    await app.request('/', post());
    const answer = await app.request('/metrics');
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(await answer.text()).toContain('faas_invocations{faas_name="unit",step="decompose"} 1\n');
  });

  it('answer a check that throws with 500 and a log line, not with a lost process', async () => {
    const { app, lines } = appOf(
      done,
      {},
      {
        readiness: () => {
          throw new Error('check bug');
        },
      },
    );
    expect((await app.request('/health/readiness')).status).toBe(500);
    expect(JSON.stringify(lines)).toContain('check bug');
  });
});
