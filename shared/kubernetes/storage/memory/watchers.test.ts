import { describe, expect, it } from 'vitest';
import type { StoreEvent, WatchBatch } from '../interface/store.ts';
import { History } from './history.ts';
import { Watchers } from './watchers.ts';

const never = new AbortController().signal;

function setUp(events = 10) {
  const history = new History({ events, bytes: 1_000_000 }, { floor: 0, newest: 1 });
  const watchers = new Watchers(history, 5);
  let revision = 1;
  function write(...keys: string[]): void {
    const written = keys.map((key): StoreEvent => {
      revision += 1;
      return { type: 'put', key, value: new Uint8Array(), revision, previous: undefined };
    });
    history.append(written);
    watchers.publish(written);
  }
  return { history, watchers, write };
}

function keysOf(result: IteratorResult<WatchBatch, void>): string[] {
  return result.done ? [] : result.value.events.map(({ key }) => key);
}

describe('Watchers', () => {
  it('delivers all pending events to a slow consumer in one batch', async () => {
    const { watchers, write } = setUp();
    const watch = watchers.watch('/a', { after: 1, signal: never });
    const first = watch.next();
    write('/a1');
    expect(keysOf(await first)).toEqual(['/a1']);
    write('/a2', '/b');
    write('/a3');
    expect(keysOf(await watch.next())).toEqual(['/a2', '/a3']);
    await watch.return();
  });

  it('ends a consumer with Expired once events it has yet to see are forgotten', async () => {
    const { watchers, write } = setUp(3);
    const watch = watchers.watch('/a', { after: 1, signal: never });
    const first = watch.next();
    write('/a1');
    await first;
    for (const key of ['/a2', '/b', '/b', '/b']) write(key);
    await expect(watch.next()).rejects.toMatchObject({ code: 'Expired' });
  });

  it('does not end a watch that missed only events of other prefixes', async () => {
    const { watchers, write } = setUp(3);
    const watch = watchers.watch('/a', { after: 1, signal: never });
    const first = watch.next();
    write('/a1');
    await first;
    for (const key of ['/b', '/b', '/b', '/b', '/b', '/a2']) write(key);
    expect(keysOf(await watch.next())).toEqual(['/a2']);
    await watch.return();
  });

  it('hands the same event object to every consumer', async () => {
    const { history, watchers, write } = setUp();
    write('/a1');
    const watches = [1, 2].map(() => watchers.watch('/', { after: 1, signal: never }));
    for (const watch of watches) {
      const { value } = await watch.next();
      expect(value?.events[0]).toBe([...history.after(1)][0]?.event);
      await watch.return();
    }
  });

  it('splits a long replay into consecutive batches', async () => {
    const { watchers, write } = setUp(2000);
    write(...Array.from({ length: 1200 }, (_, at) => `/${at}`));
    const watch = watchers.watch('/', { after: 1, signal: never });
    const sizes: number[] = [];
    for (let seen = 0; seen < 1200; seen += sizes.at(-1) ?? 0) sizes.push(keysOf(await watch.next()).length);
    expect(sizes).toEqual([500, 500, 200]);
    await watch.return();
  });

  it('limits a batch to half a megabyte of values, but at least one event', async () => {
    const { history, watchers } = setUp();
    const value = new Uint8Array(200 * 1024);
    for (let revision = 2; revision <= 6; revision += 1)
      history.append([{ type: 'put', key: `/${revision}`, value, revision, previous: undefined }]);
    const watch = watchers.watch('/', { after: 1, signal: never });
    expect(keysOf(await watch.next())).toEqual(['/2', '/3', '/4']);
    expect(keysOf(await watch.next())).toEqual(['/5', '/6']);
    await watch.return();
  });

  it('reports progress once for many foreign writes, and again only after new ones', async () => {
    const { watchers, write } = setUp();
    const watch = watchers.watch('/a', { after: 1, signal: never });
    const first = watch.next();
    for (const key of ['/b', '/b', '/b']) write(key);
    expect((await first).value).toEqual({ events: [], revision: 4 });
    const second = watch.next();
    write('/a');
    expect(keysOf(await second)).toEqual(['/a']);
    await watch.return();
  });
});
