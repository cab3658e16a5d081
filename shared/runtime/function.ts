import type { CloudEvent } from 'cloudevents';
import type { Logger } from 'pino';
import type { Wake } from '#shared/events';
import type { KubeClient } from '#shared/kube';

export type { Wake } from '#shared/events';

/** What a handler is given beside the event. Made once per process by the runtime; `signal` and `log` once per event. */
export interface Context {
  log: Logger;
  api: KubeClient;
  /** Aborted when the deadline of this delivery has passed or the process is told to end. */
  signal: AbortSignal;
  /** The time the delivery arrived: functions have no clock of their own. */
  now: Date;
  /** Process environment, for a function's own `init`; parsed with zod there. */
  env: Readonly<Record<string, string | undefined>>;
  /** W3C trace context of the delivery; the runtime puts it on the reply. */
  traceparent?: string;
}

/**
 * The shape of every function, after Knative func's TypeScript conventions (handle, init, shutdown, liveness, readiness).
 * `handle` resolves when the work is done: undefined is answered with 204, a CloudEvent is the reply. It rejects with
 * ArcError; the runtime maps the code to the status the broker acts on (Conflict 409, TooManyRequests 429, Timeout and
 * ServiceUnavailable 503: delivered again; Invalid 422: dead letter; everything else 500).
 */
export interface Fn {
  handle(context: Context, wake: Wake): Promise<CloudEvent<unknown> | undefined>;
  init?(context: Omit<Context, 'signal' | 'now' | 'traceparent'>): Promise<void>;
  shutdown?(): Promise<void>;
  liveness?(): boolean;
  readiness?(): boolean;
}
