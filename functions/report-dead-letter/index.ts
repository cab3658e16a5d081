/** report-dead-letter: a wake that a function kept refusing -> an Event on the object, a metric and a line in the log. */
import { artifactWorkflows, endpoints, orders } from '#shared/domain';
import { ArcError } from '#shared/errors';
import { emitEvent } from '#shared/function-kit';
import type { Kind } from '#shared/kube';
import type { KubeObject } from '#shared/meta';
import type { Context, Unreadable, Wake } from '#shared/runtime';
import type { Metrics } from '#shared/telemetry';
import { explain, functionAt } from './explain.ts';

/** The kinds that have functions. */
const kinds: readonly Kind[] = [orders as Kind, artifactWorkflows as Kind, endpoints as Kind];

/**
 * Rejects only when a later try can succeed (the API is away or busy). Any other refusal would lose the dead letter and, with the
 * in-memory channel, make the sender deliver the event to every Trigger again.
 */
export async function handle(context: Context, wake: Wake): Promise<undefined> {
  const { log, metrics } = context;
  const { failure, kind } = wake;
  const by = functionAt(failure?.destination);
  count(metrics, { function: by, status: failure?.status ?? 'none', kind });
  log.error({ by, status: failure?.status, answer: failure?.body }, 'a function refused a wake every time');
  try {
    await record(context, wake, explain(by, wake));
  } catch (caught) {
    const error = ArcError.from(caught);
    if (ArcError.is(error, 'ServiceUnavailable', 'Timeout', 'TooManyRequests')) throw error;
    log.error({ err: error }, 'cannot record the Event about a dead letter');
  }
}

/** Counts and logs a dead letter that holds no wake: it names no object to record an Event on. */
export const unreadable: Unreadable = ({ log, metrics }, error) => {
  count(metrics, { function: 'unknown', status: 'none', kind: 'unknown' });
  log.error({ err: error }, 'a dead letter holds no wake');
};

async function record(context: Context, wake: Wake, message: string): Promise<void> {
  const { api, log, now, signal } = context;
  const regarding = await find(context, wake);
  if (regarding === undefined) {
    log.info('the object of a dead letter is gone; no Event is recorded');
    return;
  }
  const component = 'report-dead-letter';
  const event = { regarding, type: 'Warning', reason: 'WakeRefused', message, component, now } as const;
  await emitEvent(api, event, signal);
}

/** The object of the wake; undefined when it is gone or another object has its name now. */
async function find({ api, signal }: Context, wake: Wake): Promise<KubeObject | undefined> {
  const known = kinds.find(({ kind, apiVersion }) => kind === wake.kind && apiVersion === wake.apiVersion);
  const found = known && (await api.get(known, wake, signal));
  return found?.metadata.uid === wake.uid ? found : undefined;
}

function count(metrics: Metrics, labels: { function: string; status: number | 'none'; kind: string }): void {
  metrics
    .counter({
      name: 'arc_dead_letters_total',
      help: 'Events that a function refused on every attempt, by function, its last HTTP status and the kind of the object.',
      labels: ['function', 'status', 'kind'],
    })
    .inc(labels);
}
