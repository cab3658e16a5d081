import type { IncomingMessage } from 'node:http';
import { Hono } from 'hono';
import type { Logger } from 'pino';
import { createSemaphore, type Semaphore, startDeadline } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { createMetrics, type Metrics, metricsContentType } from '#shared/base/telemetry';
import { type HeaderSource, type ParsedStepEvent, parseStepEvent } from '#shared/conduit/events';
import { type KubeClient, sharedReads } from '#shared/kubernetes/client';
import { deliveryStatus, doneAnswer, failureAnswer, refusalAnswer } from './answer.ts';
import type { Fn } from './function.ts';
import { createFunctionMetrics, type FunctionMetrics } from './function-metrics.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import { readBody } from './read-body.ts';
import { times } from './times.ts';

export interface AppDependencies {
  /** The name of the function: a label of metrics. */
  name: string;
  api: KubeClient;
  log: Logger;
  env: Readonly<Record<string, string | undefined>>;
  /** Deadline of one delivery in milliseconds, see times.ts. */
  deadlineMs?: number;
  /** Concurrent deliveries; further ones are answered with 429. Default 250. */
  maxInFlight?: number;
  metrics?: Metrics;
  /** Default: ready from the start. */
  lifecycle?: Lifecycle;
  now?: () => Date;
}

// The size that intermediaries must forward (CloudEvents 1.0, size limits); our own events have a few hundred bytes.
const largestEvent = 64 * 1024;
/** Bytes of a list that names no bound: users can label any object as one that a function reads, and a process serves all namespaces. */
const largestList = 16 * 1024 * 1024;

/**
 * Creates the HTTP surface of a function: POST / takes an event in binary or structured mode; /health/liveness,
 * /health/readiness and /metrics are for the platform. Answers 204, or errors by the table in answer.ts.
 */
export function createApp(fn: Fn, dependencies: AppDependencies): Hono {
  const metrics = dependencies.metrics ?? createMetrics();
  const lifecycle = dependencies.lifecycle ?? createLifecycle(true);
  const measured = createFunctionMetrics(metrics, dependencies.name);
  const api = sharedReads(dependencies.api, largestList);
  const deliver = createDelivery(fn, { ...dependencies, api, metrics, lifecycle, measured });
  const app = new Hono();

  app.use(async (context, next) => {
    await next();
    // Clients and proxies must not reuse a connection that is about to close.
    if (lifecycle.draining) context.header('connection', 'close');
  });
  app.post('/', ({ req, env }) => lifecycle.track(deliver(req.raw, headersOf(req.raw, env))));
  app.get('/health/liveness', () => health(fn.liveness?.() ?? true));
  app.get('/health/readiness', () =>
    health(lifecycle.ready && !lifecycle.draining && (fn.readiness?.() ?? true)),
  );
  app.get(
    '/metrics',
    () => new Response(metrics.expose(), { headers: { 'content-type': metricsContentType } }),
  );
  app.all('/', () => notAllowed('POST'));
  for (const path of ['/health/liveness', '/health/readiness', '/metrics'])
    app.all(path, () => notAllowed('GET'));
  app.notFound(() => refusalAnswer(new ArcError('NotFound', 'events go to POST /')));
  app.onError((caught) => {
    dependencies.log.error({ err: caught }, 'request failed outside the handler');
    return failureAnswer(ArcError.from(caught));
  });
  return app;
}

interface DeliveryParts extends AppDependencies {
  metrics: Metrics;
  lifecycle: Lifecycle;
  measured: FunctionMetrics;
}

/** Returns Node's parsed headers for a request from a socket: building and sorting a `Headers` for a single read would be wasted. */
function headersOf(request: Request, env: unknown): HeaderSource {
  return (env as { incoming?: IncomingMessage } | undefined)?.incoming?.headers ?? request.headers;
}

type Deliver = (request: Request, headers: HeaderSource) => Promise<Response>;

function createDelivery(fn: Fn, parts: DeliveryParts): Deliver {
  const { log, lifecycle, measured, deadlineMs = times.deadline * 1000, maxInFlight = 250 } = parts;

  const slots = createSemaphore(fn.concurrency ?? Number.POSITIVE_INFINITY);
  let active = 0;

  return async (request, headers) => {
    const refused = refusal(lifecycle, active, maxInFlight);
    if (refused !== undefined) {
      measured.failed(refused.code);
      return failureAnswer(refused);
    }
    const deadline = startDeadline(deadlineMs, 'handling the event', lifecycle.signal);
    active += 1;
    try {
      const event = await receive(request, headers, deadline.signal);
      if (event instanceof ArcError) {
        measured.failed(event.code);
        // A late body is not an unreadable one: the broker can deliver it again.
        if (fn.unreadable && event.code !== 'Timeout' && !deadline.signal.aborted) {
          fn.unreadable({ log, metrics: parts.metrics }, event);
          return doneAnswer();
        }
        log.warn({ err: event }, 'request refused');
        return refusalAnswer(event);
      }
      return await run(fn, event, { ...parts, slots, signal: deadline.signal });
    } finally {
      active -= 1;
      deadline.end();
    }
  };
}

/** Returns why an event is refused before it is read; the broker retries. */
function refusal(lifecycle: Lifecycle, active: number, maxInFlight: number): ArcError | undefined {
  if (lifecycle.draining) return new ArcError('ServiceUnavailable', 'the process is stopping');
  if (!lifecycle.ready) return new ArcError('ServiceUnavailable', 'the function is not ready yet');
  if (active < maxInFlight) return undefined;
  return new ArcError('TooManyRequests', `${maxInFlight} events are being handled`, {
    details: { retryAfterSeconds: 1 },
  });
}

async function receive(
  request: Request,
  headers: HeaderSource,
  signal: AbortSignal,
): Promise<ParsedStepEvent | ArcError> {
  const arrival = startDeadline(times.arrival * 1000, 'receiving the event', signal);
  try {
    const body = await readBody(request, largestEvent, arrival.signal);
    return parseStepEvent(headers, body);
  } catch (caught) {
    return ArcError.from(caught);
  } finally {
    arrival.end();
  }
}

interface RunParts extends DeliveryParts {
  slots: Semaphore;
  signal: AbortSignal;
}

async function run(fn: Fn, event: ParsedStepEvent, parts: RunParts): Promise<Response> {
  const { measured, metrics, lifecycle, slots, now = () => new Date(), signal, env } = parts;
  const { id, trace, step, reason } = event;
  const object = `${event.kind} ${event.namespace}/${event.name}`;
  const traced = trace && { trace, api: parts.api.traced(trace) };
  const log = parts.log.child({
    event: id.slice(0, 256),
    object,
    step,
    reason,
    ...(trace && { traceparent: trace.traceparent }),
  });
  const context = { log, api: parts.api, metrics, signal, env, ...traced };
  const started = performance.now();
  measured.invoked(step, (now().getTime() - event.time.getTime()) / 1000);
  const owner = { namespace: event.namespace, order: '' };
  // A handler that ignores its deadline keeps its slot: its objects are still in memory.
  const handle = async () => fn.handle({ ...context, now: now() }, event);
  const work = lifecycle.track(slots.run(handle, signal, owner));
  try {
    await beforeAbort(work, signal);
    log.debug('handled');
    return doneAnswer();
  } catch (caught) {
    const error = ArcError.from(caught);
    measured.failed(error.code);
    // The handler may still reject after the deadline: that must not be an unhandled rejection.
    if (signal.aborted)
      work.catch((err: unknown) => log.debug({ err }, 'the handler ended after its deadline'));
    // A retry settles most failures; only the others need a person.
    log[deliveryStatus(error) === 500 ? 'error' : 'info']({ err: error }, 'the event could not be handled');
    return failureAnswer(error);
  } finally {
    measured.took((performance.now() - started) / 1000);
  }
}

/** Settles like `work`, or rejects as soon as the signal is aborted: the handler may ignore the signal. */
async function beforeAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(ArcError.from(signal.reason));
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function health(ok: boolean): Response {
  return new Response(ok ? 'ok\n' : 'not ok\n', { status: ok ? 200 : 503 });
}

function notAllowed(allow: string): Response {
  const answer = refusalAnswer(new ArcError('MethodNotAllowed', `only ${allow} is allowed here`));
  answer.headers.set('allow', allow);
  return answer;
}
