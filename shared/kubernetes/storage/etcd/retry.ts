import type { ITxnResponse } from 'etcd3';
import { createBackoff, pause } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { retryWaits } from '../interface/store.ts';
import { classifyFailure } from './failure.ts';

export interface ReadLimits {
  /** ms for all tries together. */
  timeout: number;
  signal: AbortSignal | undefined;
  /** Aborted when the store is closed. */
  closed: AbortSignal;
}

/**
 * Tries a read until it succeeds, fails for good, or its time is over. A single try gets at most half of the time, so
 * that a member that does not answer leaves some for another one.
 */
export async function retryRead<T>(read: (timeout: number) => Promise<T>, limits: ReadLimits): Promise<T> {
  const { timeout, signal, closed } = limits;
  const end = performance.now() + timeout;
  const backoff = createBackoff(retryWaits);
  for (;;) {
    checkOpen(closed);
    checkTimeout(signal);
    const left = end - performance.now();
    try {
      return await unlessAborted(read(Math.max(1, Math.min(left, timeout / 2))), signal);
    } catch (caught) {
      const { error, passing } = classifyFailure(caught);
      const wait = backoff.next();
      if (!passing || performance.now() + wait >= end) throw error;
      await pause(wait, [signal, closed]);
    }
  }
}

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

/** Throws ServiceUnavailable once the store is closed. */
export function checkOpen(closed: AbortSignal): void {
  if (closed.aborted) throw new ArcError('ServiceUnavailable', 'the store is closed');
}

function checkTimeout(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw givenUp();
}

/** The call itself runs on until its own deadline: the stubs have no way to take it back. */
function unlessAborted<T>(call: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return call;
  return new Promise((resolve, reject) => {
    const stop = () => reject(givenUp());
    signal.addEventListener('abort', stop, { once: true });
    call.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

function givenUp(): ArcError {
  return new ArcError('Timeout', 'the read was given up by its caller');
}
