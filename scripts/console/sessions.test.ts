import { beforeEach, describe, expect, it } from 'vitest';
import { createSessions, type Sessions } from './sessions.ts';

const minuteMs = 60_000;
const limits = { idleMs: 30 * minuteMs, longestMs: 12 * 60 * minuteMs, most: 4, mostPerUser: 2 };
let clock: number;
let sessions: Sessions<string>;
beforeEach(() => {
  clock = 0;
  sessions = createSessions(limits, () => clock);
});

const begin = (user: string) => sessions.begin(user, () => `console of ${user}`);

describe('a session', () => {
  it('is found by its id alone, which is random', () => {
    const [first, second] = [begin('ann'), begin('ann')];
    expect(first).toMatch(/^[\w-]{43}$/);
    expect(second).not.toBe(first);
    expect(sessions.find(first)).toMatchObject({ user: 'ann', value: 'console of ann' });
    expect(sessions.find(first)?.csrf).not.toBe(sessions.find(second)?.csrf);
    for (const wrong of ['', 'x', `${first}x`, first.slice(1)]) expect(sessions.find(wrong)).toBeUndefined();
  });

  it('ends when nobody has used it for the idle time', () => {
    const id = begin('ann');
    const signal = sessions.find(id)?.signal;
    for (let round = 0; round < 3; round += 1) {
      clock += 29 * minuteMs;
      sessions.find(id)?.use()();
    }
    clock += 30 * minuteMs;
    expect(sessions.find(id)).toBeUndefined();
    expect(signal?.aborted).toBe(true);
  });

  it('is in use while somebody looks, and ends at the longest time all the same', () => {
    const id = begin('ann');
    const done = sessions.find(id)?.use();
    clock = 11 * 60 * minuteMs;
    sessions.sweep();
    expect(sessions.find(id)).toBeDefined();
    done?.();
    clock += 29 * minuteMs;
    expect(sessions.find(id)).toBeDefined();
    sessions.find(id)?.use();
    clock = 12 * 60 * minuteMs;
    sessions.sweep();
    expect([sessions.find(id), sessions.size]).toEqual([undefined, 0]);
  });

  it('ends what was made for it', () => {
    let ended = 0;
    const id = sessions.begin('ann', ({ signal }) => {
      signal.addEventListener('abort', () => {
        ended += 1;
      });
      return '';
    });
    const session = sessions.find(id);
    session?.end();
    session?.end();
    expect([ended, sessions.find(id)]).toEqual([1, undefined]);
  });
});

describe('many sessions', () => {
  it('of one user displace that user alone', () => {
    const other = begin('bob');
    const ids = ['ann', 'ann', 'ann'].map(begin);
    expect(ids.map((id) => sessions.find(id) !== undefined)).toEqual([false, true, true]);
    expect(sessions.find(other)).toBeDefined();
  });

  it('displace the one that was unused for longest', () => {
    const ids = ['a', 'b', 'c', 'd'].map(begin);
    sessions.find(ids[0] ?? '')?.use()();
    const last = begin('e');
    expect([...ids, last].map((id) => sessions.find(id) !== undefined)).toEqual([
      true,
      false,
      true,
      true,
      true,
    ]);
    expect(sessions.size).toBe(4);
  });
});
