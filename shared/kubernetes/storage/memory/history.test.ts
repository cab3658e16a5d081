import { describe, expect, it } from 'vitest';
import type { StoredItem, StoreEvent } from '../interface/store.ts';
import { History, recordOf } from './history.ts';

const limits = { events: 5, bytes: 1_000_000 };

function put(key: string, revision: number, previous?: StoredItem): StoreEvent {
  return { type: 'put', key, value: new Uint8Array(10), revision, previous };
}

function puts(from: number, to: number): StoreEvent[] {
  return Array.from({ length: to - from + 1 }, (_, at) => put(`/${from + at}`, from + at));
}

function revisionsAfter(history: History, revision: number): number[] {
  return [...history.after(revision)].map((event) => event.revision);
}

describe('History', () => {
  it('can be watched from the beginning while nothing is forgotten', () => {
    const history = new History(limits, { floor: 0, newest: 1 });
    expect(history).toMatchObject({ first: 2, newest: 1, floor: 0 });
    history.append(puts(2, 4));
    expect(history).toMatchObject({ first: 2, newest: 4, floor: 0 });
    expect(revisionsAfter(history, 2)).toEqual([3, 4]);
    expect(revisionsAfter(history, 0)).toEqual([2, 3, 4]);
    expect(revisionsAfter(history, 4)).toEqual([]);
  });

  it('keeps no more events than its limit, also when it is opened with more', () => {
    const history = new History(limits, { floor: 0, newest: 11, records: puts(2, 11).map(recordOf) });
    expect(history).toMatchObject({ first: 7, newest: 11, floor: 6 });
    history.append(puts(12, 13));
    expect(history).toMatchObject({ first: 9, newest: 13, floor: 8 });
  });

  it('counts the bytes of replaced values', () => {
    const history = new History({ events: 1000, bytes: 5000 }, { floor: 0, newest: 1 });
    const previous = { key: '/a', value: new Uint8Array(2000), revision: 1 };
    for (let revision = 2; revision <= 20; revision += 1) history.append([put('/a', revision, previous)]);
    expect(history).toMatchObject({ first: 19, newest: 20, floor: 18 });
  });

  it('keeps the revision when all events are forgotten', () => {
    const history = new History({ events: 0, bytes: 0 }, { floor: 0, newest: 1 });
    history.append(puts(2, 9));
    expect(history).toMatchObject({ first: 10, newest: 9, floor: 9 });
  });

  it('finds events after it moved its buffer many times', () => {
    const history = new History(limits, { floor: 0, newest: 1 });
    for (let revision = 2; revision < 10_000; revision += 3) history.append(puts(revision, revision + 2));
    const { newest } = history;
    expect(revisionsAfter(history, history.floor)).toEqual([4, 3, 2, 1, 0].map((past) => newest - past));
  });

  it('drops up to a revision and remembers that it did', () => {
    const history = new History(limits, { floor: 0, newest: 1 });
    history.append(puts(2, 5));
    history.drop(4);
    expect(history).toMatchObject({ first: 5, newest: 5, floor: 4 });
    history.drop(3);
    expect(history.floor).toBe(4);
  });

  it('supports revisions without events, and several events per revision', () => {
    const history = new History(limits, { floor: 10, newest: 10 });
    history.append([put('/a', 13), put('/b', 13), put('/c', 15)], 18);
    expect(history).toMatchObject({ first: 13, newest: 18, floor: 10 });
    expect(revisionsAfter(history, 11)).toEqual([13, 13, 15]);
    expect(revisionsAfter(history, 13)).toEqual([15]);
    history.append([], 20);
    expect(history).toMatchObject({ first: 13, newest: 20, floor: 10 });
    history.append([put('/d', 21), put('/e', 22), put('/f', 23)]);
    // Half of revision 13 is of no use to anybody.
    expect(history).toMatchObject({ newest: 23, floor: 13 });
    expect(revisionsAfter(history, 13)).toEqual([15, 21, 22, 23]);
  });

  it('knows the values at a past revision: the first change after it counts', () => {
    const one = { key: '/a', value: new Uint8Array([1]), revision: 2 };
    const two = { key: '/a', value: new Uint8Array([2]), revision: 4 };
    const events = [put('/a', 2), put('/b', 3), put('/a', 4, one), put('/a', 5, two)];
    const history = new History(limits, { floor: 0, newest: 1 });
    history.append(events);
    const at = (revision: number, prefix: string) =>
      [...history.overlayAt(revision, prefix)].map(([key, past]) => [key, past?.read()]);
    expect(at(3, '/')).toEqual([['/a', one]]);
    expect(at(2, '/')).toEqual([
      ['/b', undefined],
      ['/a', one],
    ]);
    expect(at(2, '/b')).toEqual([['/b', undefined]]);
    expect(at(5, '/')).toEqual([]);
  });
});

describe('a History with an archive', () => {
  const first = { key: '/a', value: new Uint8Array([1]), revision: 2 };
  const second = { key: '/a', value: new Uint8Array([2]), revision: 3 };
  const events: StoreEvent[] = [
    { type: 'put', ...first, previous: undefined },
    { type: 'put', ...second, previous: first },
    { type: 'delete', key: '/a', revision: 4, previous: second },
  ];

  function archived(recentBytes: number) {
    const read: number[] = [];
    const valueAt = (revision: number) => {
      read.push(revision);
      return new Uint8Array([revision - 1]);
    };
    return { read, archive: { recentBytes, valueAt } };
  }

  const eventsOf = (history: History) => [...history.after(history.floor)].map((one) => history.eventOf(one));

  it('reads archived values, and keeps the values of the newest events in memory', () => {
    const { read, archive } = archived(300);
    const history = new History(limits, { floor: 0, newest: 1 }, archive);
    history.append(events);
    expect([...history.after(0)].map(({ event }) => event)).toEqual([undefined, undefined, events[2]]);
    expect(eventsOf(history)).toEqual(events);
    expect(read).toEqual([2, 2, 3]);
    expect(history.overlayAt(2, '/').get('/a')?.read()).toEqual(first);
  });

  it('begins with records whose values are in the archive', () => {
    const { archive } = archived(1_000_000);
    const history = new History(limits, { floor: 0, newest: 4, records: events.map(recordOf) }, archive);
    expect(eventsOf(history)).toEqual(events);
    history.append([put('/b', 5)]);
    expect([...history.after(4)].map(({ event }) => event)).toEqual([put('/b', 5)]);
  });

  it('counts bytes in memory correctly while it drops and sweeps entries', () => {
    const { archive } = archived(700);
    const history = new History({ events: 4, bytes: 1_000_000 }, { floor: 0, newest: 1 }, archive);
    for (let revision = 2; revision < 9_000; revision += 1) {
      history.append([put(`/${revision}`, revision)]);
      const inMemory = [...history.after(history.floor)].filter(({ event }) => event !== undefined);
      if (inMemory.length !== Math.min(3, revision - 1)) expect.fail(`${inMemory.length} at ${revision}`);
    }
    history.drop(history.newest);
    history.append(puts(9_000, 9_001));
    expect([...history.after(8_999)].map(({ event }) => event !== undefined)).toEqual([true, true]);
  });
});
