import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Broker, type BrokerOptions, startBroker } from './broker.ts';
import type { Delivery, Trigger } from './trigger.ts';

interface Seen {
  headers: IncomingMessage['headers'];
  body: string;
}
type Script = (n: number, response: ServerResponse) => void;

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A subscriber that answers its n-th request as the script says. */
async function subscriber(script: Script): Promise<{ url: URL; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    script(seen.push({ headers: request.headers, body }), response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`), seen };
}

const delivery = (over: Partial<Delivery> = {}): Delivery => ({
  retry: 3,
  backoffPolicy: 'exponential',
  backoffDelayMs: 1,
  timeoutMs: 10_000,
  deadLetterSink: undefined,
  ...over,
});
const trigger = (name: string, url: URL, over: Partial<Trigger> = {}): Trigger => ({
  name,
  namespace: 'ns',
  filters: [],
  subscriber: { uri: url.href },
  delivery: delivery(),
  ...over,
});

async function broker(triggers: Trigger[], options: Partial<BrokerOptions> = {}): Promise<Broker> {
  const resolve = (to: { uri?: string }) => (to.uri ? new URL(to.uri) : undefined);
  const started = await startBroker({ triggers, resolve, log: pino({ level: 'silent' }), ...options });
  closers.push(() => started.close());
  return started;
}
const send = (to: Broker, headers: Record<string, string> = {}, body = '{"a":1}') =>
  fetch(to.url, {
    method: 'POST',
    headers: {
      'ce-id': '1',
      'ce-source': '/s',
      'ce-specversion': '1.0',
      'ce-type': 'first',
      'content-type': 'application/json',
      ...headers,
    },
    body,
  });
const eventually = (check: () => void) => vi.waitFor(check, { timeout: 10_000, interval: 10 });
const empty: Script = (_n, response) => void response.writeHead(204).end();

describe('startBroker', () => {
  it('delivers in binary mode to the Triggers that want the event, and hides the hop counter', async () => {
    const [one, two] = [await subscriber(empty), await subscriber(empty)];
    const hub = await broker([
      trigger('one', one.url, { filters: [{ exact: { type: 'first' } }] }),
      trigger('two', two.url, { filters: [{ exact: { type: 'other' } }] }),
    ]);
    expect((await send(hub, { 'ce-kind': 'Order' })).status).toBe(202);
    await eventually(() => expect(one.seen).toHaveLength(1));
    expect(one.seen[0]).toMatchObject({
      body: '{"a":1}',
      headers: { 'ce-id': '1', 'ce-kind': 'Order', prefer: 'reply', 'content-type': 'application/json' },
    });
    expect(one.seen[0]?.headers['ce-knativebrokerttl']).toBeUndefined();
    await eventually(() => expect(hub.depth()).toBe(0));
    expect(two.seen).toHaveLength(0);
  });

  it('retries 5xx and a body that is not an event, until an answer is right', async () => {
    const one = await subscriber((n, response) => {
      if (n === 1) response.writeHead(503).end();
      else if (n === 2) response.writeHead(200).end('{"ok":true}');
      else response.writeHead(200).end();
    });
    const hub = await broker([trigger('one', one.url)]);
    await send(hub);
    await eventually(() => expect(hub.depth()).toBe(0));
    expect(one.seen).toHaveLength(3);
  });

  it('does not retry 4xx but sends it to the dead letter sink with what went wrong', async () => {
    const one = await subscriber((_n, response) => void response.writeHead(422).end('x'.repeat(3000)));
    const sink = await subscriber(empty);
    const hub = await broker([
      trigger('one', one.url, { delivery: delivery({ deadLetterSink: { uri: sink.url.href } }) }),
    ]);
    await send(hub);
    await eventually(() => expect(hub.depth()).toBe(0));
    expect(one.seen).toHaveLength(1);
    expect(sink.seen[0]).toMatchObject({
      body: '{"a":1}',
      headers: {
        'ce-id': '1',
        'ce-knativeerrordest': one.url.href,
        'ce-knativeerrorcode': '422',
        'ce-knativeerrordata': Buffer.from('x'.repeat(768)).toString('base64'),
      },
    });
  });

  it('uses the retries up, then the dead letter sink, which is retried too', async () => {
    const one = await subscriber((_n, response) => void response.writeHead(500).end());
    const sink = await subscriber((n, response) => void response.writeHead(n === 1 ? 503 : 204).end());
    const hub = await broker([
      trigger('one', one.url, { delivery: delivery({ retry: 2, deadLetterSink: { uri: sink.url.href } }) }),
    ]);
    await send(hub);
    await eventually(() => expect(sink.seen).toHaveLength(2));
    expect(one.seen).toHaveLength(3);
    await eventually(() => expect(hub.depth()).toBe(0));
  });

  it('counts no answer in time, and no connection, as failures without a code', async () => {
    const one = await subscriber(() => undefined);
    const sink = await subscriber(empty);
    const hub = await broker([
      trigger('one', one.url, {
        delivery: delivery({ retry: 1, timeoutMs: 50, deadLetterSink: { uri: sink.url.href } }),
      }),
      trigger('gone', new URL('http://127.0.0.1:1/'), {
        delivery: delivery({ retry: 1, deadLetterSink: { uri: sink.url.href } }),
      }),
    ]);
    await send(hub);
    await eventually(() => expect(sink.seen).toHaveLength(2));
    expect(one.seen).toHaveLength(2);
    expect(sink.seen.map((letter) => letter.headers['ce-knativeerrorcode'])).toEqual([undefined, undefined]);
  });

  it('lets a reply enter again, and ends a chain of replies', async () => {
    const headers = { 'ce-id': '2', 'ce-source': '/r', 'ce-specversion': '1.0', 'ce-type': 'second' };
    const one = await subscriber((_n, response) => void response.writeHead(200, headers).end());
    const hub = await broker([trigger('one', one.url)]);
    await send(hub, { 'ce-knativebrokerttl': '4' }); // three hops: the first was made before
    await eventually(() => expect(hub.depth()).toBe(0));
    expect(one.seen.map((seen) => seen.headers['ce-type'])).toEqual(['first', 'second', 'second']);
  });

  it('refuses a request that is not an event, and an event that has no hops left', async () => {
    const hub = await broker([]);
    expect((await fetch(hub.url, { method: 'POST', body: 'x' })).status).toBe(400);
    expect((await fetch(hub.url)).status).toBe(405);
    expect((await send(hub, { 'ce-knativebrokerttl': '0' })).status).toBe(400);
    expect((await send(hub, {}, 'x'.repeat(1024 * 1024 + 1))).status).toBe(413);
  });

  it('answers 429 when the queue of a Trigger is full, while others go on', async () => {
    let release = () => {};
    const stuck = await subscriber((_n, response) => {
      release = () => void response.writeHead(204).end();
    });
    const free = await subscriber(empty);
    const hub = await broker(
      [
        trigger('stuck', stuck.url, { filters: [{ exact: { type: 'first' } }] }),
        trigger('free', free.url, { filters: [{ exact: { type: 'second' } }] }),
      ],
      { capacity: 1, concurrency: 1 },
    );
    expect((await send(hub)).status).toBe(202);
    expect((await send(hub)).status).toBe(429);
    expect((await send(hub, { 'ce-type': 'second' })).status).toBe(202);
    await eventually(() => expect(free.seen).toHaveLength(1));
    await eventually(() => expect(stuck.seen).toHaveLength(1));
    release();
    await eventually(() => expect(hub.depth()).toBe(0));
    expect((await send(hub)).status).toBe(202);
  });

  it('delivers by turns of namespaces, and has room for one beside another that fills the queue', async () => {
    const answers: (() => void)[] = [];
    const one = await subscriber((_n, response) => {
      answers.push(() => response.writeHead(204).end());
    });
    const hub = await broker([trigger('one', one.url)], { capacity: 40, concurrency: 1 });
    const from = async (namespace: string) =>
      (await send(hub, { 'ce-namespace': namespace, 'ce-partitionkey': 'order' })).status;
    const statuses: number[] = [];
    for (let at = 0; at < 30; at += 1) statuses.push(await from('a'));
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    expect(await from('b')).toBe(202);
    for (let at = 0; at < 3; at += 1) {
      await eventually(() => expect(one.seen).toHaveLength(at + 1));
      answers[at]?.();
    }
    // The first was under way when b's came.
    const served = one.seen.map(({ headers }) => headers['ce-namespace']);
    expect(served.slice(0, 3)).toEqual(['a', 'a', 'b']);
  });

  it('leaves out a Trigger whose subscriber is not there, and closes while a delivery hangs', async () => {
    const one = await subscriber(() => undefined);
    const hub = await broker([trigger('one', one.url), trigger('none', one.url, { subscriber: {} })]);
    await send(hub);
    await eventually(() => expect(one.seen).toHaveLength(1));
    await hub.close();
    closers.pop();
    expect(hub.depth()).toBe(0);
  });
});
