/** report-dead-letter: what a function kept refusing -> an Event on the object it was about, a metric and a line in the log. */
import { artifactWorkflows, endpoints, orders } from '#shared/domain';
import { ArcError } from '#shared/errors';
import { emitEvent, type Kind, type KubeClient, type Resource } from '#shared/kube';
import type { Context, Unreadable, Wake } from '#shared/runtime';
import type { Metrics } from '#shared/telemetry';
import { explain, refuserOf } from './explain.ts';

/** Those that have functions, and so can be refused. */
const kinds: readonly Kind[] = [orders as Kind, artifactWorkflows as Kind, endpoints as Kind];

/**
 * Rejects only with what a later try can change (the API is away or busy). A refusal of ours would be the end of the letter, and with
 * the in-memory channel make the sender announce everything to everybody again.
 */
export async function handle(context: Context, wake: Wake): Promise<undefined> {
  const { log, metrics } = context;
  const { failure, kind } = wake;
  const by = refuserOf(failure?.destination);
  count(metrics, { function: by, status: failure?.status ?? 'none', kind });
  log.error({ by, status: failure?.status, answer: failure?.body }, 'a function kept refusing a wake');
  try {
    await tell(context, wake, explain(by, wake));
  } catch (caught) {
    const error = ArcError.from(caught);
    if (ArcError.is(error, 'ServiceUnavailable', 'Timeout', 'TooManyRequests')) throw error;
    log.error({ err: error }, 'the Event about a dead letter could not be recorded');
  }
}

/** A letter that holds no wake-up: there is no object to tell it on. */
export const unreadable: Unreadable = ({ log, metrics }, error) => {
  count(metrics, { function: 'unknown', status: 'none', kind: 'unknown' });
  log.error({ err: error }, 'a dead letter holds no wake-up');
};

async function tell({ api, log, now, signal }: Context, wake: Wake, message: string): Promise<void> {
  const regarding = await find(api, wake, signal);
  if (regarding === undefined) {
    log.info('the object of a dead letter is gone: nobody is left to tell');
    return;
  }
  await emitEvent(
    api,
    {
      regarding,
      type: 'Warning',
      reason: 'WakeRefused',
      message,
      component: 'report-dead-letter',
      now,
    },
    signal,
  );
}

/** The object itself, not one that took its name. */
async function find(api: KubeClient, wake: Wake, signal: AbortSignal): Promise<Resource | undefined> {
  const known = kinds.find(({ kind, apiVersion }) => kind === wake.kind && apiVersion === wake.apiVersion);
  if (known === undefined) return undefined;
  const found = await api.get(known, { namespace: wake.namespace, name: wake.name }, signal);
  return found?.metadata.uid === wake.uid ? found : undefined;
}

function count(metrics: Metrics, labels: { function: string; status: number | 'none'; kind: string }): void {
  metrics
    .counter({
      name: 'arc_dead_letters_total',
      help: 'Events that a function kept refusing, by function, its last HTTP status and the kind of the object.',
      labels: ['function', 'status', 'kind'],
    })
    .inc(labels);
}
