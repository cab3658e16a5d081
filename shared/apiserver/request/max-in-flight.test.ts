import { describe, expect, it } from 'vitest';
import { createActivity, kindOf } from './max-in-flight.ts';

describe('createActivity', () => {
  it('refuses what is over its limit and says when to come back', () => {
    const activity = createActivity({ readOnly: 2, mutating: 1 });
    const end = activity.begin('mutating', false);
    expect(() => activity.begin('mutating', false)).toThrow(
      expect.objectContaining({ code: 'TooManyRequests', details: { retryAfterSeconds: 1 } }),
    );
    activity.begin('readOnly', false);
    activity.begin('readOnly', false);
    expect(() => activity.begin('readOnly', false)).toThrow('Too many requests');
    end();
    end();
    expect(activity.running).toEqual({ readOnly: 2, mutating: 0, longRunning: 0 });
    activity.begin('mutating', false);
  });

  it('lets watches and the exempt pass', () => {
    const activity = createActivity({ readOnly: 1, mutating: 1 });
    for (let index = 0; index < 10; index += 1) activity.begin('longRunning', false);
    for (let index = 0; index < 10; index += 1) activity.begin('readOnly', true);
    expect(activity.running).toEqual({ readOnly: 10, mutating: 0, longRunning: 10 });
  });

  it('is idle when the last has ended', async () => {
    const activity = createActivity({ readOnly: 1, mutating: 1 });
    await activity.idle();
    const ends = [activity.begin('readOnly', false), activity.begin('longRunning', false)];
    let isIdle = false;
    const idle = activity.idle().then(() => {
      isIdle = true;
    });
    ends[0]?.();
    await Promise.resolve();
    expect(isIdle).toBe(false);
    ends[1]?.();
    await idle;
  });

  it.each([
    ['watch', 'longRunning'],
    ['get', 'readOnly'],
    ['list', 'readOnly'],
    ['deletecollection', 'mutating'],
    ['post', 'mutating'],
  ])('counts %s as %s', (verb, kind) => {
    expect(kindOf(verb)).toBe(kind);
  });
});
