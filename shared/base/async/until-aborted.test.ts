import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { untilAborted } from './until-aborted.ts';

const never = new Promise<never>(() => undefined);

describe('untilAborted', () => {
  it('is the outcome of the work, and leaves no listener behind', async () => {
    const { signal } = new AbortController();
    expect(await untilAborted(Promise.resolve(1), signal)).toBe(1);
    await expect(untilAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('rejects at once with the reason of an abort, before or meanwhile', async () => {
    await expect(untilAborted(never, AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
    const control = new AbortController();
    const waiting = untilAborted(never, control.signal);
    control.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
  });

  it('hears a failure of the work that comes after the abort', async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    await expect(untilAborted(promise, AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
    reject(new Error('late'));
    await new Promise(setImmediate);
  });
});
