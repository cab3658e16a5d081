import type { ITxnResponse } from 'etcd3';
import { createBackoff, pause } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { retryBackoff } from '../interface/store.ts';
import { classifyFailure } from './failure.ts';

export interface ReadLimits {
  /** Timeout of all attempts together in milliseconds. */
  timeout: number;
  signal: AbortSignal | undefined;
  /** Aborted when the store is closed. */
  closed: AbortSignal;
}

/**
 * Retries a read until it succeeds, fails permanently, or times out. An attempt gets at most half of the timeout, which leaves time for
 * another member. The last attempt may be cut by the timeout, which hides its cause: rejects with that of an earlier attempt then.
 */
export async function retryRead<T>(read: (timeout: number) => Promise<T>, limits: ReadLimits): Promise<T> {
  const { timeout, signal, closed } = limits;
  const end = performance.now() + timeout;
  const backoff = createBackoff(retryBackoff);
  let failure: ArcError | undefined;
  for (;;) {
    checkOpen(closed);
    checkTimeout(signal);
    const left = end - performance.now();
    try {
      return await unlessAborted(read(Math.max(1, Math.min(left, timeout / 2))), signal);
    } catch (caught) {
      const { error, retryable: passing } = classifyFailure(caught);
      if (!passing) throw error;
      if (!failure || error.code !== 'Timeout') failure = error;
      const wait = backoff.next();
      if (performance.now() + wait >= end) throw failure;
      await pause(wait, [signal, closed]);
    }
  }
}

/**
 * Sends a write once. Retries for `timeout` ms only while there is no connection, so that the write was not sent. Rejects with the error of
 * the transport.
 */
export async function sendWrite(
  send: (timeout: number) => Promise<ITxnResponse>,
  timeout: number,
  closed: AbortSignal,
): Promise<ITxnResponse> {
  const end = performance.now() + timeout;
  const backoff = createBackoff(retryBackoff);
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
  if (signal?.aborted) throw aborted();
}

/** Rejects on abort. The call continues until its deadline, because the stubs cannot cancel it. */
function unlessAborted<T>(call: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return call;
  return new Promise((resolve, reject) => {
    const stop = () => reject(aborted());
    signal.addEventListener('abort', stop, { once: true });
    call.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

function aborted(): ArcError {
  return new ArcError('Timeout', 'the read was aborted by its caller');
}
