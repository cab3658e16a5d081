import { ArcError } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import type { Context } from '#shared/conduit/runtime';
import { type ActionName, actions, type EventReason, requestOf } from '#shared/domain';
import { emitEvent } from './emit-event.ts';

const reasons = {
  retry: 'RetryRequested',
  force: 'ForceRequested',
  cancel: 'CancelRequested',
} as const satisfies Record<ActionName, EventReason>;

/** Maximum delay between an action and the first call of a function, ms. */
const recentMs = 10 * 60_000;

/**
 * Records who requested the last action on an object (the annotation `requested-by`), with the time of the request: once, however often it
 * is called. A failure is only logged, as for every Event.
 */
export async function recordRequest(
  { api, log, now, signal }: Pick<Context, 'api' | 'log' | 'now' | 'signal'>,
  regarding: KubeObject,
  component: string,
): Promise<void> {
  const request = requestOf(regarding);
  if (request === undefined || now.getTime() - Date.parse(request.time) > recentMs) return;
  const { action, user, time } = request;
  const statement = {
    type: 'Normal',
    reason: reasons[action],
    message: `${user} asked for ${actions[action]}`,
  } as const;
  try {
    await emitEvent(api, { ...statement, regarding, component, now: new Date(time), once: true }, signal);
  } catch (caught) {
    log.warn({ err: ArcError.from(caught) }, 'cannot record the Event');
  }
}
