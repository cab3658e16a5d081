import { describe, expect, it } from 'vitest';
import { limitRequestsInFlight, requestKindOf } from './max-in-flight.ts';

describe('limitRequestsInFlight', () => {
  it('refuses requests above the limit, with Retry-After', () => {
    const inFlight = limitRequestsInFlight({ readOnly: 2, mutating: 1 });
    const end = inFlight.begin('mutating', false);
    expect(() => inFlight.begin('mutating', false)).toThrow(
      expect.objectContaining({ code: 'TooManyRequests', details: { retryAfterSeconds: 1 } }),
    );
    inFlight.begin('readOnly', false);
    inFlight.begin('readOnly', false);
    expect(() => inFlight.begin('readOnly', false)).toThrow('Too many requests');
    end();
    end();
    expect(inFlight.running).toEqual({ readOnly: 2, mutating: 0, longRunning: 0 });
    inFlight.begin('mutating', false);
  });

  it('does not limit watches and exempt requests', () => {
    const inFlight = limitRequestsInFlight({ readOnly: 1, mutating: 1 });
    for (let index = 0; index < 10; index += 1) inFlight.begin('longRunning', false);
    for (let index = 0; index < 10; index += 1) inFlight.begin('readOnly', true);
    expect(inFlight.running).toEqual({ readOnly: 10, mutating: 0, longRunning: 10 });
  });

  it('is idle when the last request has ended', async () => {
    const inFlight = limitRequestsInFlight({ readOnly: 1, mutating: 1 });
    await inFlight.idle();
    const ends = [inFlight.begin('readOnly', false), inFlight.begin('longRunning', false)];
    let isIdle = false;
    const idle = inFlight.idle().then(() => {
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
    expect(requestKindOf(verb)).toBe(kind);
  });
});
