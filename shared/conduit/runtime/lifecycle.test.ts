import { describe, expect, it } from 'vitest';
import { createLifecycle } from './lifecycle.ts';

describe('createLifecycle', () => {
  it('is idle when everything that was tracked has settled, failures included', async () => {
    const lifecycle = createLifecycle();
    const [one, two] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
    const tracked = [lifecycle.track(one.promise), lifecycle.track(two.promise)];
    expect(lifecycle.inFlight).toBe(2);
    const idle = lifecycle.idle(10_000);
    one.resolve(1);
    two.reject(new Error('failed'));
    expect(await Promise.allSettled(tracked)).toMatchObject([{ value: 1 }, { status: 'rejected' }]);
    expect(await idle).toBe(true);
    expect(await lifecycle.idle(0)).toBe(true);
  });

  it('resolves with false when the time is over', async () => {
    const lifecycle = createLifecycle();
    void lifecycle.track(new Promise(() => undefined));
    expect(await lifecycle.idle(1)).toBe(false);
  });

  it('goes from not ready to ready to draining, and passes on the reason of the abort', () => {
    const lifecycle = createLifecycle();
    expect([lifecycle.ready, lifecycle.draining]).toEqual([false, false]);
    lifecycle.ready = true;
    lifecycle.drain();
    const reason = new Error('over');
    lifecycle.abort(reason);
    expect([lifecycle.ready, lifecycle.draining, lifecycle.signal.reason]).toEqual([true, true, reason]);
  });
});
