import { pino } from 'pino';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { type StepEvent, stepEvent, toBinaryRequest } from '#shared/conduit/events';
import { type Served, serveFunction } from '#shared/conduit/runtime';
import { orders } from '#shared/domain';
import { createKubeClient } from '#shared/kubernetes/client';
import { startBroker } from '#shared/local';
import { sendInProcess, sinkOf } from './send-event.ts';

const quiet = pino({ level: 'silent' });
const served: Served[] = [];
afterEach(async () => {
  for (const one of served.splice(0)) await one.close();
});

async function fn(handle: (event: StepEvent) => Promise<undefined>) {
  const one = await serveFunction(
    { handle: (_, event) => handle(event) },
    {
      name: 'test',
      port: 0,
      api: createKubeClient({ server: 'http://127.0.0.1:1', userAgent: 'test' }),
      log: quiet,
      env: {},
      drainMs: 100,
    },
  );
  served.push(one);
  return one;
}

const signal = () => new AbortController().signal;
const order = { apiVersion: orders.apiVersion, kind: 'Order', namespace: 'ns', name: 'first', uid: 'u' };
const event = toBinaryRequest(
  stepEvent({
    object: order,
    observed: { ...order, resourceVersion: '7' },
    step: 'decompose',
    reason: 'test',
    partitionKey: 'u',
    time: new Date(),
  }),
);
const post = postOf(event.headers, event.body);

function postOf(headers: Record<string, string>, text: string) {
  const body = Buffer.from(text);
  return { headers: { ...headers, prefer: 'reply', 'content-length': String(body.length) }, body };
}

/** Both ways to the same function. */
async function ways(handle: (event: StepEvent) => Promise<undefined>) {
  const { url, fetch } = await fn(handle);
  return {
    url: new URL(url),
    near: sendInProcess(new Map([[new URL(url).origin, fetch]])),
    far: sendInProcess(new Map()),
  };
}

describe('sendInProcess', () => {
  it('gives an event to the function as HTTP does', async () => {
    const seen: string[] = [];
    const { url, near, far } = await ways(async ({ kind, name, reason }) => {
      seen.push(`${kind} ${name} ${reason}`);
      return undefined;
    });
    const answer = await near(url, post, signal());
    expect(answer).toMatchObject({ status: 204, body: Buffer.alloc(0) });
    expect((await far(url, post, signal())).status).toBe(204);
    expect(seen).toEqual(['Order first test', 'Order first test']);
  });

  it.each([
    ['an event that is refused', postOf({ ...event.headers, 'ce-time': 'yesterday' }, event.body)],
    ['a body that is too long', postOf(event.headers, 'x'.repeat(70_000))],
    ['what is no event', postOf({ 'content-type': 'application/json' }, '{}')],
  ])('answers %s alike', async (_, given) => {
    const { url, near, far } = await ways(async () => undefined);
    const [here, there] = [await near(url, given, signal()), await far(url, given, signal())];
    expect(here.status).toBeGreaterThanOrEqual(400);
    expect([here.status, String(here.body)]).toEqual([there.status, String(there.body)]);
  });

  it('answers a failure of the handler alike', async () => {
    const { url, near, far } = await ways(async () => {
      throw new ArcError('Conflict', 'somebody else was faster');
    });
    const [here, there] = [await near(url, post, signal()), await far(url, post, signal())];
    expect([here.status, String(here.body)]).toEqual([there.status, String(there.body)]);
    expect(here.status).toBe(409);
  });

  it('rejects with the reason of an abort at once', async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const { url, near } = await ways(() => promise);
    const control = new AbortController();
    setTimeout(() => control.abort(new Error('too late')), 20);
    await expect(near(url, post, control.signal)).rejects.toThrow('too late');
    await expect(near(url, post, AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
    resolve(undefined);
  });
});

describe('sinkOf', () => {
  it.each([
    ['an event', event.headers, event.body, 202],
    ['what is no event', { 'content-type': 'application/json' }, '{}', 400],
    ['an event that has gone in circles', { ...event.headers, 'ce-knativebrokerttl': '1' }, event.body, 400],
  ])('takes %s as the broker does by HTTP', async (_, headers, body, status) => {
    const broker = await startBroker({ triggers: [], resolve: () => undefined, log: quiet });
    onTestFinished(() => broker.close());
    const far = fetch(broker.url, { method: 'POST', headers, body });
    expect(await sinkOf(broker).take(headers, body)).toEqual({ status, retryAfter: undefined });
    expect((await far).status).toBe(status);
  });
});
