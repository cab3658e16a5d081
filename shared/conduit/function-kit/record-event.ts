import { ArcError } from '#shared/base/errors';
import type { Context } from '#shared/conduit/runtime';
import { type EventInput, emitEvent } from './emit-event.ts';

type Recorder = Pick<Context, 'api' | 'log' | 'now' | 'signal'>;
type Statement = Omit<EventInput, 'now'>;

/**
 * Records an Event about finished work. A failure is only logged: if it failed the delivery, the broker would have the work
 * repeated.
 */
export async function recordEvent({ api, log, now, signal }: Recorder, statement: Statement): Promise<void> {
  try {
    await emitEvent(api, { ...statement, now }, signal);
  } catch (caught) {
    log.warn({ err: ArcError.from(caught) }, 'cannot record the Event');
  }
}
