import { afterEach, describe, expect, it } from 'vitest';
import { fairSlots as newSlots, refusals, type SlotRequest } from './slots.ts';

const refused: string[] = [];
const refuse = refusals((reason) => refused.push(reason));

const requests: SlotRequest[] = [];
afterEach(() => {
  // Requests left in the queue would be rejected 15 seconds later, while another file's tests run.
  for (const { ready, leave } of requests.splice(0)) {
    ready.catch(() => undefined);
    leave();
  }
});

/** Slots whose requests leave after the test. */
function fairSlots(...options: Parameters<typeof newSlots>) {
  const slots = newSlots(...options);
  const { enter } = slots;
  slots.enter = (flow) => {
    const request = enter.call(slots, flow);
    requests.push(request);
    return request;
  };
  return slots;
}

/** Resolves with 'running', 'waiting' or the error message. */
async function stateOf({ ready }: SlotRequest): Promise<string> {
  return await Promise.race([
    ready.then(
      () => 'running',
      (caught: Error) => caught.message,
    ),
    new Promise<string>((resolve) => setImmediate(() => resolve('waiting'))),
  ]);
}

describe('fairSlots', () => {
  it('limits a flow to its share and leaves slots to other flows', async () => {
    const slots = fairSlots(32, refuse);
    const greedy = Array.from({ length: 10 }, () => slots.enter('greedy'));
    expect(await Promise.all(greedy.map(stateOf))).toEqual([
      ...['running', 'running'],
      ...Array(8).fill('waiting'),
    ]);
    expect(await stateOf(slots.enter('modest'))).toBe('running');
    expect(slots).toMatchObject({ running: 3, waiting: 8 });
  });

  it('assigns free slots to flows round-robin, regardless of queue length', async () => {
    const slots = fairSlots(2, refuse);
    const requests = ['a', 'b', 'a', 'a', 'a', 'modest'].map((flow) => slots.enter(flow));
    requests[0]?.leave();
    expect(await Promise.all(requests.slice(1).map(stateOf))).toEqual([
      'running',
      'running',
      'waiting',
      'waiting',
      'waiting',
    ]);
    requests[2]?.leave();
    const [last] = requests.slice(-1);
    expect(last && (await stateOf(last))).toBe('running');
  });

  it('refuses a request if the queue of its flow is full, with Retry-After', () => {
    const slots = fairSlots(16, refuse);
    for (let index = 0; index < 9; index++) slots.enter('greedy');
    expect(() => slots.enter('greedy')).toThrow(
      expect.objectContaining({ code: 'TooManyRequests', details: { retryAfterSeconds: 1 } }),
    );
    slots.enter('modest');
  });

  it('drops the last request of the longest queue if too many are queued in total', async () => {
    const slots = fairSlots(2, refuse);
    const requests = ['a', 'b', ...Array(6).fill('a'), 'c', 'd', 'e'].map((flow) => slots.enter(flow));
    for (const request of requests) request.ready.catch(() => undefined);
    const states = await Promise.all(requests.map(stateOf));
    expect(states[7]).toContain('most of them from this user');
    expect(states.slice(8)).toEqual(['waiting', 'waiting', 'waiting']);
    expect(slots.waiting).toBe(8);
  });

  it('refuses a request that is queued for too long', async () => {
    const slots = fairSlots(1, refuse, 1);
    slots.enter('a');
    await expect(slots.enter('b').ready).rejects.toMatchObject({ code: 'TooManyRequests' });
    expect(slots).toMatchObject({ running: 1, waiting: 0 });
    expect(refused).toContain('time-out');
  });

  it('releases the slot of a request once', async () => {
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
