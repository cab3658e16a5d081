import { backoffMs, pause } from '#shared/async';
import { reworded, stopped, TransferError, throwIfStopped } from '../errors/transfer-error.ts';

/** How often and how patiently something is tried again within one process. */
export interface RetryPolicy {
  /** Tries in all, the first included. */
  attempts: number;
  /** The wait before the second try, in milliseconds; doubled for each further one, with equal jitter. */
  baseMs: number;
  /** The longest own wait, in milliseconds. */
  maxMs: number;
  /** The longest wait that the other side may ask for, in milliseconds; beyond it the transfer fails as retryable. */
  maxRetryAfterMs: number;
}

export const defaultRetry: RetryPolicy = {
  attempts: 6,
  baseMs: 400,
  maxMs: 15_000,
  maxRetryAfterMs: 120_000,
};

/** Milliseconds of a `Retry-After` header (seconds or an HTTP date, RFC 9110 10.2.3); undefined if absent or odd. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\s*\d+\s*$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Waits `ms`, or rejects with the TransferError of the signal as soon as it is aborted. */
export async function pauseOrStop(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, signal);
  throwIfStopped(signal);
}

export interface RetryOptions {
  policy: RetryPolicy;
  signal: AbortSignal;
  /** True if the last try got further than the one before: the count of tries starts anew. */
  progressed?: () => boolean;
}

/**
 * Runs `operation` until it resolves, rejects with something not worth another try, or the tries are used up; then its
 * last error, saying how often it was tried. The wait is the longer of the policy's and what the other side asked for.
 */
export async function withRetries<T>(options: RetryOptions, operation: () => Promise<T>): Promise<T> {
  const { policy, signal } = options;
  for (let attempt = 1; ; attempt += 1) {
    throwIfStopped(signal);
    try {
      return await operation();
    } catch (caught) {
      if (signal.aborted) throw stopped(signal);
      if (!(caught instanceof TransferError) || !caught.again) throw caught;
      if (options.progressed?.() === true) attempt = 1;
      if (attempt >= policy.attempts)
        throw reworded(caught, `${caught.message} (tried ${attempt} times)`, false);
      const asked = caught.retryAfterMs ?? 0;
      if (asked > policy.maxRetryAfterMs) {
        const wait = `${caught.message} It asks to wait ${Math.ceil(asked / 1000)} s, longer than a worker waits.`;
        throw reworded(caught, wait, false);
      }
      await pauseOrStop(Math.max(asked, backoffMs(attempt, policy)), signal);
    }
  }
}
