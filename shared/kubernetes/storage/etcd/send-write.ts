import type { ITxnResponse } from 'etcd3';
import { createBackoff, pause } from '#shared/base/async';
import { retryWaits } from '../interface/store.ts';
import { classifyFailure } from './failure.ts';
import { checkOpen } from './retry-read.ts';

/**
 * Sends a write once. While there is no connection to send it by, it tries again (another member may be there) until
 * `timeout` ms are over. Rejects with what the transport threw.
 */
export async function sendWrite(
  send: (timeout: number) => Promise<ITxnResponse>,
  timeout: number,
  closed: AbortSignal,
): Promise<ITxnResponse> {
  const end = performance.now() + timeout;
  const backoff = createBackoff(retryWaits);
  for (;;) {
    checkOpen(closed);
    try {
      return await send(end - performance.now());
    } catch (caught) {
      const wait = backoff.next();
      if (!classifyFailure(caught).unsent || performance.now() + wait >= end) throw caught;
      await pause(wait, closed);
    }
  }
}
