import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { retryRead } from './retry.ts';

const unavailable = new Error('Error: 14 UNAVAILABLE: connect ECONNREFUSED 127.0.0.1:2379');
const cut = new Error('Error: 4 DEADLINE_EXCEEDED: Deadline exceeded');

/** Rejects with these failures in turn, and again with the last. */
function failing(...failures: unknown[]): () => Promise<never> {
  let calls = 0;
  return async () => {
    throw failures[Math.min(calls++, failures.length - 1)];
  };
}

describe('retryRead', () => {
  const limits = { timeout: 300, signal: undefined, closed: new AbortController().signal };

  it('rejects with the cause that an earlier attempt saw when the timeout cuts the last one', async () => {
    await expect(retryRead(failing(unavailable, cut), limits)).rejects.toMatchObject({
      code: 'ServiceUnavailable',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('rejects with Timeout when every attempt was cut, or when the caller aborts', async () => {
    await expect(retryRead(failing(cut), limits)).rejects.toMatchObject({ code: 'Timeout' });
    const aborted = failing(unavailable, new ArcError('Timeout', 'the read was aborted by its caller'));
    await expect(retryRead(aborted, limits)).rejects.toMatchObject({ message: /aborted by its caller/ });
  });

  it('rejects at once with a permanent failure, whatever came before', async () => {
    const denied = new Error('Error: 7 PERMISSION_DENIED: etcdserver: permission denied');
    await expect(retryRead(failing(unavailable, denied), limits)).rejects.toMatchObject({
      message: expect.stringContaining('permission denied'),
    });
  });
});
