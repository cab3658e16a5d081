import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { FakeClock } from '../../../shared/base/async/testing/fake-clock.ts';
import { EventQueue, type Outcome } from './queue.ts';

/** A sender whose deliveries end when the test says so. */
class FakeSender {
  readonly sent: string[] = [];
  readonly #open: { event: string; end: (outcome: Outcome) => void }[] = [];

  readonly send = (event: string): Promise<Outcome> => {
    this.sent.push(event);
    return new Promise((end) => this.#open.push({ event, end }));
  };

  get open(): number {
    return this.#open.length;
  }

  async end(outcome: Outcome = { result: 'delivered' }): Promise<void> {
    this.#open.shift()?.end(outcome);
    await settle();
  }
}

/** Lets the promise chain of a delivery run to its end. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
}

const transient: Outcome = { result: 'transient', reason: '503' };

function setUp(parallel = 4) {
  const clock = new FakeClock();
  const sender = new FakeSender();
  const ended: { event: string; result: string; lagMs: number; attemptMs: number }[] = [];
  const queue = new EventQueue<string>({
    attempt: sender.send,
    ended: (event, { result }, lagMs, attemptMs) => ended.push({ event, result, lagMs, attemptMs }),
    // Each key is of a namespace of its own.
    ownerOf: (event) => ({ namespace: event.slice(0, 1), order: '' }),
    clock,
    random: () => 1,
    parallel,
  });
  return { clock, sender, queue, ended };
}

describe('EventQueue', () => {
  it('sends an event at once', async () => {
    const { sender, queue, ended } = setUp();
    queue.offer('a', 'a1');
    expect(sender.sent).toEqual(['a1']);
    await sender.end();
    expect(ended).toEqual([{ event: 'a1', result: 'delivered', lagMs: 0, attemptMs: 0 }]);
    expect(queue.depth).toBe(0);
  });

  it('tells the wait for a hand-over from the time that the broker takes, after a retry too', async () => {
    const { clock, sender, queue, ended } = setUp();
    queue.offer('a', 'a1');
    clock.advance(2_000);
    await sender.end(transient);
    clock.advance(5_000);
    expect(sender.sent).toEqual(['a1', 'a1']);
    clock.advance(3_000);
    await sender.end();
    expect(ended).toMatchObject([{ attemptMs: expect.any(Number) }]);
    const [{ lagMs = 0, attemptMs = 0 } = {}] = ended;
    expect(lagMs + attemptMs).toBe(10_000);
    expect(attemptMs).toBeGreaterThanOrEqual(3_000);
    expect(lagMs).toBeGreaterThanOrEqual(2_000);
  });

  it('coalesces events that arrive during an attempt of their key, and sends the latest when its effects can be seen', async () => {
    const { clock, sender, queue } = setUp();
    for (const event of ['a1', 'a2', 'a3']) queue.offer('a', event);
    expect(sender.sent).toEqual(['a1']);
    await sender.end();
    expect(sender.sent).toEqual(['a1']);
    clock.advance(100);
    expect(sender.sent).toEqual(['a1', 'a3']);
    await sender.end();
    expect(sender.sent).toEqual(['a1', 'a3']);
  });

  it('drops an event that was decided on during an attempt of its key and is not needed after it', async () => {
    const { clock, sender, queue } = setUp();
    for (const event of ['a1', 'a2']) queue.offer('a', event);
    await sender.end();
    queue.forget('a');
    clock.advance(1_000);
    expect(sender.sent).toEqual(['a1']);
  });

  it('sends other keys in parallel, up to the limit', async () => {
    const { sender, queue } = setUp(2);
    for (const key of ['a', 'b', 'c']) queue.offer(key, key);
    expect(sender.sent).toEqual(['a', 'b']);
    await sender.end();
    expect(sender.sent).toEqual(['a', 'b', 'c']);
  });

  it('always has a delivery free for a namespace that has none in flight', async () => {
    const parallel = 16;
    const { sender, queue } = setUp(parallel);
    const inFlightOf = (namespace: string) => sender.sent.filter((event) => event[0] === namespace).length;
    for (let at = 0; at < 100; at++) queue.offer(`a${at}`, `a${at}`);
    expect(inFlightOf('a')).toBe(parallel / 2);
    for (let at = 0; at < 100; at++) queue.offer(`b${at}`, `b${at}`);
    expect(inFlightOf('b')).toBe(4);
    // None of the deliveries ends: they take as long as they like.
    for (const namespace of ['c', 'd', 'e', 'f']) {
      queue.offer(namespace, namespace);
      expect(inFlightOf(namespace)).toBe(1);
    }
    expect(sender.sent).toHaveLength(parallel);
  });

  it('sends the event of an owner that comes last as the next but one', async () => {
    const clock = new FakeClock();
    const sender = new FakeSender();
    const queue = new EventQueue<string>({
      attempt: sender.send,
      ownerOf: (event) => ({ namespace: event.slice(0, 1), order: 'x' }),
      clock,
      random: () => 1,
      parallel: 1,
    });
    for (let at = 0; at < 300; at++) queue.offer(`a${at}`, `a${at}`);
    queue.offer('b0', 'b0');
    for (let turn = 0; turn < 2; turn++) await sender.end();
    expect(sender.sent).toEqual(['a0', 'a1', 'b0']);
  });

  it('delivers a delayed event at the first of its times, with the latest value', () => {
    const { clock, sender, queue } = setUp();
    queue.offer('a', 'a1', 1000);
    clock.advance(600);
    queue.offer('a', 'a2', 1600);
    clock.advance(399);
    expect(sender.sent).toEqual([]);
    clock.advance(1);
    expect(sender.sent).toEqual(['a2']);
  });

  it('sends a delayed event at once when the next offer is due now', () => {
    const { sender, queue } = setUp();
    queue.offer('a', 'a1', 1000);
    queue.offer('a', 'a2');
    expect(sender.sent).toEqual(['a2']);
    expect(queue.depth).toBe(1);
  });

  it('retries transient outcomes without end, with growing waits up to 5 s', async () => {
    const { clock, sender, queue } = setUp();
    queue.offer('a', 'a1');
    const times: number[] = [];
    for (let attempt = 0; attempt < 40; attempt++) {
      const before = clock.now();
      await sender.end(transient);
      while (sender.open === 0) clock.advance(100);
      times.push(clock.now() - before);
    }
    expect(sender.sent.length).toBe(41);
    expect(times.slice(0, 3)).toEqual([200, 400, 800]);
    expect(times.at(-1)).toBe(5_000);
  });

  it('makes about 20 attempts a second while a broker is away, however many events wait', async () => {
    for (const [waiting, most] of [
      [10, 4],
      [100, 40],
      [500, 40],
    ] as const) {
      const clock = new FakeClock();
      let attempts = 0;
      const attempt = async (): Promise<Outcome> => {
        attempts += 1;
        return transient;
      };
      const ownerOf = () => ({ namespace: 'team', order: 'x' });
      const queue = new EventQueue<string>({ attempt, ownerOf, clock, random: Math.random, parallel: 32 });
      for (let key = 0; key < waiting; key++) queue.offer(`a${key}`, 'event');
      const pass = async (seconds: number) => {
        for (let turn = 0; turn < 2 * seconds; turn++) {
          clock.advance(500);
          await settle();
        }
      };
      await pass(120);
      attempts = 0;
      await pass(60);
      expect(attempts / 60).toBeLessThanOrEqual(most);
      expect(attempts / 60).toBeGreaterThan(Math.min(waiting / 5, 10));
      await queue.close();
    }
  });

  it('sends the newer event after a failure, once the backoff has passed', async () => {
    const { clock, sender, queue } = setUp();
    queue.offer('a', 'a1');
    queue.offer('a', 'a2');
    await sender.end(transient);
    queue.offer('a', 'a3');
    expect(sender.sent).toEqual(['a1']);
    clock.advance(200);
    expect(sender.sent).toEqual(['a1', 'a3']);
  });

  it('waits as long as the broker asks', async () => {
    const { clock, sender, queue } = setUp();
    queue.offer('a', 'a1');
    await sender.end({ ...transient, retryAfterMs: 5000 });
    clock.advance(4999);
    expect(sender.sent.length).toBe(1);
    clock.advance(1);
    expect(sender.sent.length).toBe(2);
  });

  it('drops a refused event and reports it', async () => {
    const { clock, sender, queue, ended } = setUp();
    queue.offer('a', 'a1');
    await sender.end({ result: 'refused', reason: '400' });
    clock.advance(100_000);
    expect(sender.sent.length).toBe(1);
    expect(ended[0]?.result).toBe('refused');
    queue.offer('a', 'a2');
    expect(sender.sent).toEqual(['a1', 'a2']);
  });

  it('waits at close for the attempts under way and sends nothing more', async () => {
    const { sender, queue } = setUp(1);
    queue.offer('a', 'a1');
    queue.offer('b', 'b1');
    const closed = queue.close();
    await sender.end();
    await closed;
    expect(sender.sent).toEqual(['a1']);
  });

  it('delivers the last value of every key whatever fails, with two attempts under way at most', async () => {
    const step = fc.oneof(
      fc.record({ offer: fc.constantFrom('a', 'b', 'c'), delay: fc.constantFrom(0, 0, 500) }),
      fc.record({ end: fc.constantFrom<Outcome>({ result: 'delivered' }, transient) }),
      fc.record({ advance: fc.integer({ min: 0, max: 1000 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { clock, sender, queue, ended } = setUp(2);
        const latest = new Map<string, string>();
        let count = 0;
        for (const one of steps) {
          if ('offer' in one) {
            const event = `${one.offer}${count++}`;
            latest.set(one.offer, event);
            queue.offer(one.offer, event, clock.now() + one.delay);
          } else if ('end' in one) await sender.end(one.end);
          else clock.advance(one.advance);
          expect(sender.open).toBeLessThanOrEqual(2);
        }
        for (let turn = 0; turn < 100 && queue.depth > 0; turn++) {
          clock.advance(60_000);
          await sender.end();
        }
        expect(queue.depth).toBe(0);
        const last = new Map(ended.map(({ event }) => [event.slice(0, 1), event]));
        expect(last).toEqual(latest);
      }),
    );
  });
});
