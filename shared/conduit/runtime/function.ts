import type { Logger } from 'pino';
import type { ArcError } from '#shared/base/errors';
import type { Metrics, TraceContext } from '#shared/base/telemetry';
import type { StepEvent } from '#shared/conduit/events';
import type { KubeClient } from '#shared/kubernetes/client';

export type { StepEvent } from '#shared/conduit/events';

/** The first argument of a handler. Created once per process by the runtime; `api`, `signal` and `log` once per event. */
export interface Context {
  log: Logger;
  api: KubeClient;
  /** Served at /metrics; for a function's own metrics beside those of the runtime. */
  metrics: Metrics;
  /** Aborted at the deadline of this delivery, or when the process stops. */
  signal: AbortSignal;
  /** The time at which the handler was called: functions have no clock of their own. */
  now: Date;
  /** The process environment, for a function's own `init`, which parses it with zod. */
  env: Readonly<Record<string, string | undefined>>;
  /** Of the delivery. Requests of `api` carry it. */
  trace?: TraceContext;
}

export type Unreadable = (context: Pick<Context, 'log' | 'metrics'>, error: ArcError) => void;

/**
 * The shape of every function, after the conventions of Knative func for TypeScript (handle, init, shutdown, liveness, readiness).
 * `handle` resolves when the work is done, which is answered with 204. It rejects with
 * ArcError, whose code the runtime maps to the status that the broker acts on (Conflict 409, TooManyRequests 429, Timeout and
 * ServiceUnavailable 503: retried; Invalid 422: dead letter; everything else 500).
 */
export interface Fn {
  handle(context: Context, event: StepEvent): Promise<void>;
  /**
   * Called for a request without a step event, which is then answered with 204 instead of a refusal. Only for a dead letter sink: the broker
   * drops what the sink refuses.
   */
  unreadable?: Unreadable;
  /**
   * Events that one process handles at the same time, of which one namespace has at most as many as are free. Further ones wait, and their
   * namespaces take turns. For a handler that holds many objects in memory. Default: no limit but that of deliveries.
   */
  concurrency?: number;
  init?(context: Omit<Context, 'signal' | 'now' | 'trace'>): Promise<void>;
  shutdown?(): Promise<void>;
  liveness?(): boolean;
  readiness?(): boolean;
}
