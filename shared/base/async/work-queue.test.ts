import { afterEach, describe, expect, it, vi } from 'vitest';
import { createWorkQueue } from './work-queue.ts';

let control = new AbortController();
afterEach(() => control.abort());

describe('createWorkQueue', () => {
  it('works on a key once however often it is added, and again when it is added during the work', async () => {
    control = new AbortController();
    const seen: string[] = [];
    let busy = 0;
    const queue = createWorkQueue(
      async (key) => {
        expect(++busy).toBeLessThanOrEqual(2);
        seen.push(key);
        await new Promise(setImmediate);
        if (key === 'a' && seen.filter((one) => one === 'a').length === 1) queue.add(key);
        await new Promise(setImmediate);
        busy -= 1;
      },
      { workers: 2, signal: control.signal, onFailure: () => undefined },
    );
    for (const key of ['a', 'a', 'b', 'a']) queue.add(key);
    await vi.waitFor(() => expect(seen.toSorted()).toEqual(['a', 'a', 'b']));
    control.abort();
    await queue.done;
  });

  it('tries a key again after a failure', async () => {
    control = new AbortController();
    let tries = 0;
    const failures: string[] = [];
    const queue = createWorkQueue(
      async () => {
        tries += 1;
        if (tries < 3) throw new Error('not yet');
      },
      { workers: 1, signal: control.signal, random: () => 0, onFailure: (key) => failures.push(key) },
    );
    queue.add('k');
    await vi.waitFor(() => expect(tries).toBe(3), { timeout: 10_000 });
    expect(failures).toEqual(['k', 'k']);
  });
});
