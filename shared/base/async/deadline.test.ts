import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { startDeadline, within } from './deadline.ts';

function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve(signal.reason), { once: true }),
  );
}

describe('startDeadline', () => {
  it('aborts with Timeout naming what took so long', async () => {
    const deadline = startDeadline(1, 'GET /x');
    expect(await aborted(deadline.signal)).toMatchObject({
      code: 'Timeout',
      message: expect.stringMatching(/GET \/x/),
    });
  });

  it('is cut short by the outer signal, whose own reason is kept', () => {
    const outer = new AbortController();
    const deadline = startDeadline(60_000, 'GET /x', outer.signal);
    const plain = startDeadline(60_000, 'GET /x', AbortSignal.abort());
    const ending = new ArcError('ServiceUnavailable', 'the process is stopping');
    outer.abort(ending);
    expect(deadline.signal.reason).toBe(ending);
    expect(plain.signal.reason).toMatchObject({ code: 'Timeout', message: 'GET /x: cancelled' });
    deadline.end();
  });

  it('leaves nothing on the outer signal', () => {
    const outer = new AbortController();
    for (let index = 0; index < 100; index += 1) startDeadline(60_000, 'x', outer.signal).end();
    expect(getEventListeners(outer.signal, 'abort')).toHaveLength(0);
  });

  it('can be restarted with another length', async () => {
    const deadline = startDeadline(60_000, 'watch');
    deadline.restart(1);
    expect(await aborted(deadline.signal)).toMatchObject({ code: 'Timeout' });
  });

  it('never ends by itself when it is infinite', () => {
    const deadline = startDeadline(1, 'watch');
    deadline.restart(Number.POSITIVE_INFINITY);
    expect(deadline.signal.aborted).toBe(false);
    deadline.end();
  });
});

describe('within', () => {
  it('gives what the work gives in time', async () => {
    expect(await within(60_000, 'init', Promise.resolve(1))).toBe(1);
    await expect(within(60_000, 'init', Promise.reject(new Error('no')))).rejects.toThrow('no');
  });

  it('rejects with Timeout when the work takes longer', async () => {
    await expect(within(1, 'init', new Promise(() => undefined))).rejects.toMatchObject({
      code: 'Timeout',
      message: 'init took longer than 1 ms',
    });
  });
});
