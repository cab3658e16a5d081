import { setTimeout as sleep } from 'node:timers/promises';
import { ArcError } from '#shared/errors';
import { reworded, stopped, TransferError, throwIfStopped } from '../transfer-error.ts';

/** How often and how patiently something is tried again within one process. */
export interface RetryPolicy {
  /** Tries in all, the first included. */
  attempts: number;
  /** The wait before the second try, in milliseconds; doubled for each further one, each with full jitter. */
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

/** The wait before try `attempt + 1` (attempt counts from 1): at least half of the doubled base, never above maxMs. */
export function backoffMs(policy: RetryPolicy, attempt: number, random: number): number {
  const full = Math.min(policy.maxMs, policy.baseMs * 2 ** (attempt - 1));
  return full / 2 + (full / 2) * random;
}

/** Sleeps, or rejects with the TransferError of the signal as soon as it is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  throwIfStopped(signal);
  try {
    await sleep(ms, undefined, { signal });
  } catch (caught) {
    if (signal.aborted) throw stopped(signal);
    throw ArcError.from(caught);
  }
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
      await pause(Math.max(asked, backoffMs(policy, attempt, Math.random())), signal);
    }
  }
}
