import { backoffMs, pause } from '#shared/base/async';
import { abortError, TransferError, throwIfAborted, withMessage } from '../errors/transfer-error.ts';

/** The number of attempts of an operation, and the waits between them. */
export interface RetryPolicy {
  /** Attempts in all, the first included. */
  attempts: number;
  /** The wait before the second attempt, in milliseconds; doubled for each further attempt, with equal jitter. */
  baseMs: number;
  /** The longest such wait, in milliseconds. */
  maxMs: number;
  /** The longest Retry-After in milliseconds; a longer one fails the transfer as retryable. */
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

/** Waits `ms`, or rejects with the signal's TransferError as soon as the signal is aborted. */
export async function pauseUntilAborted(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, signal);
  throwIfAborted(signal);
}

export interface RetryOptions {
  policy: RetryPolicy;
  signal: AbortSignal;
  /** True if the last attempt made progress: resets the count of attempts. */
  progressed?: () => boolean;
}

/** Counts the failed attempts of one operation. */
export interface Attempts {
  /**
   * Waits before the next attempt: the policy's backoff or the server's Retry-After, whichever is longer. Rejects with `caught` if a retry
   * is pointless or the attempts are used up (their number is added to the message), and with the signal's TransferError if aborted.
   */
  failed(caught: unknown): Promise<void>;
}

/** Creates the count of an operation's attempts. */
export function countAttempts({ policy, signal, progressed }: RetryOptions): Attempts {
  let attempt = 0;
  return {
    async failed(caught) {
      if (signal.aborted) throw abortError(signal);
      if (!(caught instanceof TransferError) || !caught.again) throw caught;
      attempt = progressed?.() === true ? 1 : attempt + 1;
      if (attempt >= policy.attempts)
        throw withMessage(caught, `${caught.message} (tried ${attempt} times)`, false);
      const asked = caught.retryAfterMs ?? 0;
      if (asked > policy.maxRetryAfterMs) {
        const wait = `${caught.message} The server asks to wait ${Math.ceil(asked / 1000)} s, which is longer than a worker waits.`;
        throw withMessage(caught, wait, false);
      }
      await pauseUntilAborted(Math.max(asked, backoffMs(attempt, policy)), signal);
    },
  };
}

/** Runs `operation` until it resolves. Rejects with its last error when `Attempts` gives up. */
export async function withRetries<T>(options: RetryOptions, operation: () => Promise<T>): Promise<T> {
  const attempts = countAttempts(options);
  for (;;) {
    throwIfAborted(options.signal);
    try {
      return await operation();
    } catch (caught) {
      await attempts.failed(caught);
    }
  }
}
