import type { Logger } from 'pino';
import type { ArcError } from '#shared/base/errors';
import type { Metrics, TraceContext } from '#shared/base/telemetry';
import type { StepEvent } from '#shared/conduit/events';
import type { KubeClient } from '#shared/kubernetes/client';

export type { StepEvent } from '#shared/conduit/events';

/** The argument of a handler beside the event. Made once per process by the runtime; `api`, `signal` and `log` once per event. */
export interface Context {
  log: Logger;
  api: KubeClient;
  /** Shown at /metrics; for a function's own metrics beside those of the runtime. */
  metrics: Metrics;
  /** Aborted when the deadline of this delivery has passed or the process stops. */
  signal: AbortSignal;
  /** The time the delivery arrived: functions have no clock of their own. */
  now: Date;
  /** Process environment, for a function's own `init`; parsed with zod there. */
  env: Readonly<Record<string, string | undefined>>;
  /** Of the delivery. Requests by `api` carry it. */
  trace?: TraceContext;
}

export type Unreadable = (context: Pick<Context, 'log' | 'metrics'>, error: ArcError) => void;

/**
 * The shape of every function, after Knative func's TypeScript conventions (handle, init, shutdown, liveness, readiness).
 * `handle` resolves when the work is done, which is answered with 204. It rejects with
 * ArcError; the runtime maps the code to the status the broker acts on (Conflict 409, TooManyRequests 429, Timeout and
 * ServiceUnavailable 503: delivered again; Invalid 422: dead letter; everything else 500).
 */
export interface Fn {
  handle(context: Context, event: StepEvent): Promise<void>;
  /**
   * Called for a request that holds no step event; the answer is then 204 and not a refusal. For a dead letter sink only: the broker
   * drops what the sink refuses.
   */
  unreadable?: Unreadable;
  init?(context: Omit<Context, 'signal' | 'now' | 'trace'>): Promise<void>;
  shutdown?(): Promise<void>;
  liveness?(): boolean;
  readiness?(): boolean;
}
