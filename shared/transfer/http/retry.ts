import { backoffMs, pause } from '#shared/base/async';
import { reworded, stopped, TransferError, throwIfStopped } from '../errors/transfer-error.ts';

/** How often and after which waits a process retries an operation. */
export interface RetryPolicy {
  /** Attempts in all, the first included. */
  attempts: number;
  /** The wait before the second attempt, in milliseconds; doubled for each further one, with equal jitter. */
  baseMs: number;
  /** The longest such wait, in milliseconds. */
  maxMs: number;
  /** The longest wait that a server may ask for, in milliseconds; beyond it the transfer fails as retryable. */
  maxRetryAfterMs: number;
}

export const defaultRetry: RetryPolicy = {
  attempts: 6,
  baseMs: 400,
  maxMs: 15_000,
  maxRetryAfterMs: 120_000,
};

/** Milliseconds of a `Retry-After` header (seconds or an HTTP date, RFC 9110 10.2.3); undefined if absent or malformed. */
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
  /** True if the last attempt made progress: the count of attempts starts again. */
  progressed?: () => boolean;
}

/** Counts the failed attempts of one operation. */
export interface Attempts {
  /**
   * Waits for the next attempt, the longer of the policy's and the server's time. Rejects with `caught` if no retry can mend it or the
   * attempts are used up (their number is added), and with the signal's TransferError if that is aborted.
   */
  failed(caught: unknown): Promise<void>;
}

/** Starts to count, at the first attempt. */
export function countAttempts({ policy, signal, progressed }: RetryOptions): Attempts {
  let attempt = 0;
  return {
    async failed(caught) {
      if (signal.aborted) throw stopped(signal);
      if (!(caught instanceof TransferError) || !caught.again) throw caught;
      attempt = progressed?.() === true ? 1 : attempt + 1;
      if (attempt >= policy.attempts)
        throw reworded(caught, `${caught.message} (tried ${attempt} times)`, false);
      const asked = caught.retryAfterMs ?? 0;
      if (asked > policy.maxRetryAfterMs) {
        const wait = `${caught.message} The server asks to wait ${Math.ceil(asked / 1000)} s, which is longer than a worker waits.`;
        throw reworded(caught, wait, false);
      }
      await pauseOrStop(Math.max(asked, backoffMs(attempt, policy)), signal);
    },
  };
}

/** Runs `operation` until it resolves; rejects with its last error when `Attempts` gives up. */
export async function withRetries<T>(options: RetryOptions, operation: () => Promise<T>): Promise<T> {
  const attempts = countAttempts(options);
  for (;;) {
    throwIfStopped(options.signal);
    try {
      return await operation();
    } catch (caught) {
      await attempts.failed(caught);
    }
  }
}
