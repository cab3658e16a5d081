import { type ActionName, actions, type EventReason, requestOf } from '#shared/domain';
import { ArcError } from '#shared/errors';
import type { KubeObject } from '#shared/meta';
import type { Context, Wake } from '#shared/runtime';
import { emitEvent } from './emit-event.ts';

const reasons = {
  retry: 'RetryRequested',
  force: 'ForceRequested',
  cancel: 'CancelRequested',
} as const satisfies Record<ActionName, EventReason>;

/**
 * Records once who asked for the last action on an object (the annotation `requested-by`), at the time when it was asked for. Only a
 * change of the object can be a new request. A failure is only logged, as for every Event.
 */
export async function recordRequest(
  { api, log, signal }: Pick<Context, 'api' | 'log' | 'signal'>,
  { reason }: Pick<Wake, 'reason'>,
  regarding: KubeObject,
  component: string,
): Promise<void> {
  const request = reason === 'changed' ? requestOf(regarding) : undefined;
  if (request === undefined) return;
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
