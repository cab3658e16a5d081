import { describe, expect, it } from 'vitest';
import { TransferError } from '../errors/transfer-error.ts';
import { parseRetryAfter, pauseUntilAborted, withRetries } from './retry.ts';

const policy = { attempts: 3, baseMs: 1, maxMs: 2, maxRetryAfterMs: 1000 };
const signal = new AbortController().signal;
const failing = (error: () => unknown) => {
  let calls = 0;
  return {
    calls: () => calls,
    operation: async (): Promise<never> => {
      calls += 1;
      throw error();
    },
  };
};

describe('retries', () => {
  it('end after the allowed attempts and report their number', async () => {
    const { calls, operation } = failing(() => new TransferError('retryable', 'busy.'));
    await expect(withRetries({ policy, signal }, operation)).rejects.toMatchObject({
      message: 'busy. (tried 3 times)',
      reason: 'retryable',
      again: false,
    });
    expect(calls()).toBe(3);
  });

  it.each([
    new TransferError('permanent', 'no'),
    new TransferError('retryable', 'full', { again: false }),
    new TypeError('a defect'),
  ])('are not made for %s', async (error) => {
    const { calls, operation } = failing(() => error);
    await expect(withRetries({ policy, signal }, operation)).rejects.toBe(error);
    expect(calls()).toBe(1);
  });

  it('restart their count after progress', async () => {
    let calls = 0;
    const operation = async (): Promise<string> => {
      calls += 1;
      if (calls < 7) throw new TransferError('retryable', 'cut');
      return 'done';
    };
    expect(await withRetries({ policy, signal, progressed: () => calls < 6 }, operation)).toBe('done');
  });

  it("end at once if the server's Retry-After exceeds the limit", async () => {
    const { calls, operation } = failing(
      () => new TransferError('retryable', 'limit.', { retryAfterMs: 3_600_000 }),
    );
    await expect(withRetries({ policy, signal }, operation)).rejects.toThrow('wait 3600 s');
    expect(calls()).toBe(1);
  });

  it('end with the signal, also while waiting', async () => {
    const controller = new AbortController();
    const waiting = pauseUntilAborted(60_000, controller.signal);
    controller.abort(new TransferError('retryable', 'stopped'));
    await expect(waiting).rejects.toThrow('stopped');
  });

  it('accept both forms of Retry-After', () => {
    const now = Date.parse('2026-01-01T00:00:00Z');
    expect(parseRetryAfter('7', now)).toBe(7000);
    expect(parseRetryAfter('Thu, 01 Jan 2026 00:00:10 GMT', now)).toBe(10_000);
    expect(parseRetryAfter('Wed, 31 Dec 2025 00:00:00 GMT', now)).toBe(0);
    expect(parseRetryAfter('soon', now)).toBeUndefined();
    expect(parseRetryAfter(undefined, now)).toBeUndefined();
  });
});
