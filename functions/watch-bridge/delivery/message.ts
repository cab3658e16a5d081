import type { Waking } from '#shared/domain';
import { toBinaryRequest, type WakeData, wakeEvent } from '#shared/events';
import type { HttpMessage } from './delivery.ts';

/** A wake on its way: which object to wake, what was seen, when, and for repetitions which one it is. */
export interface PendingWake extends Waking {
  watched: WakeData;
  time: number;
  epoch?: string;
}

/** The wake as a binary CloudEvent. The same on every resend; throws for attributes that are none. */
export function messageOf(wake: PendingWake): HttpMessage {
  const { target, watched, reason, partitionKey, time, epoch } = wake;
  return toBinaryRequest(wakeEvent({ target, watched, reason, partitionKey, epoch, time: new Date(time) }));
}
