import { afterEach, describe, expect, it } from 'vitest';
import { fairSlots as newSlots, type Place, refusals } from './slots.ts';

const refused: string[] = [];
const refuse = refusals((reason) => refused.push(reason));

const places: Place[] = [];
afterEach(() => {
  // Those that still wait would be refused 15 seconds later, when another file's tests run.
  for (const { ready, leave } of places.splice(0)) {
    ready.catch(() => undefined);
    leave();
  }
});

/** Slots whose places are left when the test has ended. */
function fairSlots(...options: Parameters<typeof newSlots>) {
  const slots = newSlots(...options);
  const { enter } = slots;
  slots.enter = (party) => {
    const place = enter.call(slots, party);
    places.push(place);
    return place;
  };
  return slots;
}

/** What has happened to a place by now. */
async function stateOf({ ready }: Place): Promise<string> {
  return await Promise.race([
    ready.then(
      () => 'running',
      (caught: Error) => caught.message,
    ),
    new Promise<string>((resolve) => setImmediate(() => resolve('waiting'))),
  ]);
}

describe('fairSlots', () => {
  it('lets a party run its share, and others beside it', async () => {
    const slots = fairSlots(32, refuse);
    const greedy = Array.from({ length: 10 }, () => slots.enter('greedy'));
    expect(await Promise.all(greedy.map(stateOf))).toEqual([
      ...['running', 'running'],
      ...Array(8).fill('waiting'),
    ]);
    expect(await stateOf(slots.enter('modest'))).toBe('running');
    expect(slots).toMatchObject({ running: 3, waiting: 8 });
  });

  it('gives a free slot to the parties by turns, however long their lines are', async () => {
    const slots = fairSlots(2, refuse);
    const places = ['a', 'b', 'a', 'a', 'a', 'modest'].map((party) => slots.enter(party));
    places[0]?.leave();
    expect(await Promise.all(places.slice(1).map(stateOf))).toEqual([
      'running',
      'running',
      'waiting',
      'waiting',
      'waiting',
    ]);
    places[2]?.leave();
    const [last] = places.slice(-1);
    expect(last && (await stateOf(last))).toBe('running');
  });

  it('refuses a party whose line is full, with Retry-After', () => {
    const slots = fairSlots(16, refuse);
    for (let index = 0; index < 9; index++) slots.enter('greedy');
    expect(() => slots.enter('greedy')).toThrow(
      expect.objectContaining({ code: 'TooManyRequests', details: { retryAfterSeconds: 1 } }),
    );
    slots.enter('modest');
  });

  it('refuses the last of the longest line when too many wait in all', async () => {
    const slots = fairSlots(2, refuse);
    const places = ['a', 'b', ...Array(6).fill('a'), 'c', 'd', 'e'].map((party) => slots.enter(party));
    for (const place of places) place.ready.catch(() => undefined);
    const states = await Promise.all(places.map(stateOf));
    expect(states[7]).toContain('most of them of this user');
    expect(states.slice(8)).toEqual(['waiting', 'waiting', 'waiting']);
    expect(slots.waiting).toBe(8);
  });

  it('refuses a request whose turn does not come in time', async () => {
    const slots = fairSlots(1, refuse, 1);
    slots.enter('a');
    await expect(slots.enter('b').ready).rejects.toMatchObject({ code: 'TooManyRequests' });
    expect(slots).toMatchObject({ running: 1, waiting: 0 });
    expect(refused).toContain('time-out');
  });

  it('a request that leaves makes room once', async () => {
    const slots = fairSlots(1, refuse);
    const [first, second, third] = [slots.enter('a'), slots.enter('b'), slots.enter('c')];
    second.leave();
    await expect(second.ready).rejects.toMatchObject({ code: 'BadRequest' });
    first.leave();
    first.leave();
    await third.ready;
    expect(slots).toMatchObject({ running: 1, waiting: 0 });
  });
});
