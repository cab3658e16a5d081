import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type HttpBindings, serve } from '@hono/node-server';
import { Hono } from 'hono';
import type { Logger } from 'pino';
import { ArcError, httpStatus } from '#shared/base/errors';
import { answerLimit, readBounded } from './answer.ts';
import type { Post, PostAnswer, SendPost } from './attempt.ts';
import { type BrokerEvent, readEvent, withAttributes } from './event.ts';
import { createLane, type Lane, ttlExtension } from './lane.ts';
import type { Destination, Trigger } from './trigger.ts';

export interface BrokerOptions {
  triggers: readonly Trigger[];
  /** The URL of a subscriber or dead letter sink; undefined where there is none: such a Trigger is not ready. */
  resolve(destination: Destination): URL | undefined;
  /** How an event reaches a subscriber. Default: over HTTP. */
  send?: SendPost;
  log: Logger;
  /** Loopback port (default 0: any free one). */
  port?: number;
  /** Events under way per Trigger, waiting for a retry included (default 4096), which namespaces share; beyond it senders get a 429. */
  capacity?: number;
  /** Deliveries at a time per Trigger (default 16). */
  concurrency?: number;
  /** Of one attempt where the delivery names no timeout (default 10 min, as Kafka's). */
  defaultTimeoutMs?: number;
  /** Longest wait between two attempts (default 30 s). Knative has no such cap. */
  backoffCapMs?: number;
}

export interface Broker {
  url: URL;
  /** Takes an event of this process as it takes one that is posted; `handled` resolves when every Trigger that wants it has delivered it. */
  take(post: Post): PostAnswer & { handled: Promise<unknown> };
  /** Events accepted and not yet delivered, over all Triggers. */
  depth(): number;
  close(): Promise<void>;
}

const none = Buffer.alloc(0);

/** Reply hops an event may cause (knativebrokerttl). */
const firstTtl = 255;

/**
 * A broker on loopback with Knative's delivery rules. Unlike the in-memory channel it answers 202 as soon as the event
 * stands in the queue of every Trigger that wants it, so one slow subscriber delays no other, and namespaces take turns, so no
 * backlog of one delays another. Nothing is persisted: what
 * it held when the process died is sent again by the bridge: it is still due.
 */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const ending = new AbortController();
  const lanes: Lane[] = [];
  const accept: Accept = (event) => {
    const wanted = lanes.filter((lane) => lane.wants(event));
    if (wanted.some((lane) => !lane.hasRoom(event))) return undefined;
    return Promise.all(wanted.map((lane) => lane.push(event)));
  };
  for (const trigger of options.triggers) {
    const lane = laneFor(trigger, options, ending.signal, accept);
    if (lane) lanes.push(lane);
  }
  const depth = () => lanes.reduce((sum, lane) => sum + lane.depth(), 0);

  const app = new Hono<{ Bindings: HttpBindings }>();
  app.post('*', async ({ env }) => {
    const { status, body } = await receive(env.incoming, accept);
    return new Response(body.length > 0 ? body.toString() : null, { status });
  });
  app.all('*', () => new Response(null, { status: 405, headers: { allow: 'POST' } }));

  const { promise, resolve, reject } = Promise.withResolvers<AddressInfo>();
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: options.port ?? 0 }, resolve);
  server.once('error', reject);
  const { port } = await promise;
  return {
    url: new URL(`http://127.0.0.1:${port}/`),
    take: ({ headers, body = none }) => take(headers, body, accept),
    depth,
    async close() {
      const closed = new Promise<void>((done) => server.close(() => done()));
      ending.abort();
      if ('closeAllConnections' in server) server.closeAllConnections();
      await Promise.all([closed, ...lanes.map((lane) => lane.idle())]);
    },
  };
}

function laneFor(
  trigger: Trigger,
  options: BrokerOptions,
  signal: AbortSignal,
  accept: Accept,
): Lane | undefined {
  const subscriber = options.resolve(trigger.subscriber);
  if (subscriber === undefined) {
    options.log.warn(
      { trigger: trigger.name },
      'the subscriber of a Trigger is not there: it gets no events',
    );
    return undefined;
  }
  const sink = trigger.delivery.deadLetterSink;
  return createLane(trigger, {
    subscriber,
    deadLetterSink: sink && options.resolve(sink),
    capacity: options.capacity ?? 4096,
    concurrency: options.concurrency ?? 16,
    defaultTimeoutMs: options.defaultTimeoutMs ?? 600_000,
    backoffCapMs: options.backoffCapMs ?? 30_000,
    signal,
    send: options.send,
    log: options.log,
    reply(event, cause) {
      const left = Number(cause.attributes[ttlExtension] ?? firstTtl) - 1;
      if (left > 0) return accept(withAttributes(event, { [ttlExtension]: String(left) })) !== undefined;
      options.log.warn(
        { trigger: trigger.name, type: event.attributes.type },
        'a chain of replies has no end: dropped',
      );
      return true;
    },
  });
}

/** Resolves when the event was handled; undefined where there is no room for it. */
type Accept = (event: BrokerEvent) => Promise<unknown> | undefined;

function receive(incoming: IncomingMessage, accept: Accept): Promise<PostAnswer> {
  const read = readBounded(incoming, answerLimit);
  return read.then((body) => take(incoming.headers, body, accept), refusal);
}

function take(
  headers: IncomingHttpHeaders,
  body: Buffer,
  accept: Accept,
): PostAnswer & { handled: Promise<unknown> } {
  try {
    const event = readEvent(headers, body);
    if (event === undefined)
      throw new ArcError('BadRequest', 'the request is not a CloudEvent: ce-specversion is missing');
    const given = event.attributes[ttlExtension];
    // An event that came through a broker before has made a hop.
    const ttl = given === undefined ? firstTtl : Number(given) - 1;
    if (!(ttl > 0))
      throw new ArcError('BadRequest', 'the event has used up its reply hops (knativebrokerttl)');
    const handled = accept(withAttributes(event, { [ttlExtension]: String(ttl) }));
    if (handled !== undefined) return { status: 202, headers: {}, body: none, handled };
    throw new ArcError('TooManyRequests', 'the queue of a Trigger is full: send the event again later');
  } catch (caught) {
    return { ...refusal(caught), handled: Promise.resolve() };
  }
}

function refusal(caught: unknown): PostAnswer {
  const error = ArcError.from(caught);
  return { status: httpStatus(error.code), headers: {}, body: Buffer.from(error.message) };
}
