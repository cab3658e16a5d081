import { describe, expect, it } from 'vitest';
import {
  abortError,
  exitCodes,
  explainShortage,
  TransferError,
  throwIfAborted,
  withMessage,
} from './transfer-error.ts';

describe('transfer errors', () => {
  it('have one exit code per reason, neither 0 nor 1', () => {
    expect(exitCodes).toEqual({
      retryable: 10,
      permanent: 11,
      denied: 12,
      auth: 13,
      config: 14,
      'denied-by-policy': 15,
    });
  });

  it('have the codes of the API', () => {
    expect(new TransferError('denied', 'x').code).toBe('Forbidden');
    expect(new TransferError('config', 'x').code).toBe('Invalid');
  });

  it('keep everything except the message when reworded', () => {
    const error = new TransferError('retryable', 'a', { retryAfterMs: 5 });
    expect(withMessage(error, 'b')).toMatchObject({
      message: 'b',
      reason: 'retryable',
      retryAfterMs: 5,
      again: true,
    });
  });

  it('are retryable if the machine lacked a resource, and otherwise unchanged', () => {
    const cause = Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
    for (const reason of ['config', 'permanent', 'denied-by-policy'] as const)
      expect(explainShortage(new TransferError(reason, 'Cannot read it.', { cause }))).toMatchObject({
        reason: 'retryable',
        again: false,
        message: expect.stringMatching(/^Cannot read it\. The artifact is not the cause: .*ulimit -n/),
      });
    for (const other of [
      new TransferError('config', 'x'),
      new TransferError('retryable', 'x', { cause }),
      'x',
    ])
      expect(explainShortage(other)).toBe(other);
  });

  it('carry the reason of the aborted signal', () => {
    const mine = new TransferError('retryable', 'mine');
    expect(abortError(AbortSignal.abort(mine))).toBe(mine);
    expect(abortError(AbortSignal.abort('x'))).toMatchObject({ reason: 'retryable', again: false });
    expect(() => throwIfAborted(AbortSignal.abort(mine))).toThrow('mine');
    expect(() => throwIfAborted(new AbortController().signal)).not.toThrow();
  });
});
