/** report-dead-letter: reports an event that a function kept refusing: a condition and an Event on the object, a metric and a log line. */

import { ArcError } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import type { Metrics } from '#shared/base/telemetry';
import { emitEvent, readSettings, writeStatus } from '#shared/conduit/function-kit';
import type { Context, StepEvent, Unreadable } from '#shared/conduit/runtime';
import {
  artifactWorkflows,
  type Condition,
  endpoints,
  isDeleting,
  isOn,
  orders,
  undelivered,
  wakeRefused,
} from '#shared/domain';
import type { Kind } from '#shared/kubernetes/client';
import { explain, functionAt } from './explain.ts';

interface Reported extends KubeObject {
  status?: { conditions?: Condition[] };
}

/** The kinds that have functions. */
const kinds = [orders, artifactWorkflows, endpoints] as readonly Kind<Reported>[];

/**
 * Rejects only when a later try can succeed (the API is away or busy). Any other refusal would lose the dead letter and, with the
 * in-memory channel, make the sender deliver the event to every Trigger again.
 */
export async function handle(context: Context, event: StepEvent): Promise<undefined> {
  const { log, metrics } = context;
  const { failure, kind } = event;
  const by = functionAt(failure?.destination);
  count(metrics, { function: by, status: failure?.status ?? 'none', kind });
  log.error({ by, status: failure?.status, answer: failure?.body }, 'a function refused an event every time');
  try {
    await record(context, event, explain(by, event));
  } catch (caught) {
    const error = ArcError.from(caught);
    if (ArcError.is(error, 'ServiceUnavailable', 'Timeout', 'TooManyRequests')) throw error;
    log.error({ err: error }, 'cannot record the Event about a dead letter');
  }
}

/** Counts and logs a dead letter without an event: it names no object to record an Event on. */
export const unreadable: Unreadable = ({ log, metrics }, error) => {
  count(metrics, { function: 'unknown', status: 'none', kind: 'unknown' });
  log.error({ err: error }, 'a dead letter holds no event');
};

/** Attempts to write the condition while others write the same status. */
const mostTries = 5;

async function record(context: Context, letter: StepEvent, message: string): Promise<void> {
  const { api, log, now, signal } = context;
  const regarding = await writeCondition(context, letter, message);
  if (regarding === undefined) {
    log.info('the object of a dead letter is gone; nothing is recorded');
    return;
  }
  const component = 'report-dead-letter';
  const event = { regarding, type: 'Warning', reason: wakeRefused, message, component, now } as const;
  await emitEvent(api, event, signal);
}

/** Sets the condition Delivered to False. Resolves with the object; undefined when it is gone or another object has its name now. */
async function writeCondition(
  context: Context,
  event: StepEvent,
  message: string,
): Promise<KubeObject | undefined> {
  const { api, now, signal } = context;
  const known = kinds.find(({ kind, apiVersion }) => kind === event.kind && apiVersion === event.apiVersion);
  for (let tries = 1; known; tries += 1) {
    const found = await api.get(known, event, signal);
    if (found?.metadata.uid !== event.uid) return undefined;
    if (isDeleting(found) || !(await isTakenBack(context, event))) return found;
    try {
      return await writeStatus(context, known, found, { conditions: undelivered(found, message, now) });
    } catch (caught) {
      if (!ArcError.is(caught, 'Conflict') || tries === mostTries) throw caught;
    }
  }
  return undefined;
}

/** False if nobody would reset the condition: probe-endpoint writes those of an Endpoint. */
async function isTakenBack(context: Context, { kind }: StepEvent): Promise<boolean> {
  return kind !== endpoints.kind || isOn('probes', await readSettings(context));
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
