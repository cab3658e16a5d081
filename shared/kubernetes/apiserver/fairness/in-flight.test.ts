import { describe, expect, it } from 'vitest';
import { countRequestsInFlight, requestKindOf } from './in-flight.ts';

describe('countRequestsInFlight', () => {
  it('counts by kind; ending a request twice counts once', () => {
    const inFlight = countRequestsInFlight();
    const end = inFlight.begin('mutating');
    inFlight.begin('readOnly');
    inFlight.begin('longRunning');
    end();
    end();
    expect(inFlight.running).toEqual({ readOnly: 1, mutating: 0, longRunning: 1 });
  });

  it('is idle when the last request has ended', async () => {
    const inFlight = countRequestsInFlight();
    await inFlight.idle();
    const ends = [inFlight.begin('readOnly'), inFlight.begin('longRunning')];
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
