import { describe, expect, it } from 'vitest';
import { decide, type Write } from './decide.ts';

const one = new Uint8Array([1]);
const two = new Uint8Array([2]);
const stored = { key: '/a', value: one, revision: 5 };
const lookup = (key: string) => (key === '/a' ? stored : undefined);
const write = (key: string, value: Uint8Array | undefined, expected: number): Write => ({
  key,
  value,
  expected,
});

describe('decide', () => {
  it('assigns revisions to successful writes and returns the current item of conflicts', () => {
    const writes = [write('/b', two, 0), write('/a', two, 4), write('/a', two, 5)];
    expect(decide(writes, lookup, 9)).toEqual({
      results: [
        { ok: true, revision: 10 },
        { ok: false, current: stored },
        { ok: true, revision: 11 },
      ],
      events: [
        { type: 'put', key: '/b', value: two, revision: 10, previous: undefined },
        { type: 'put', key: '/a', value: two, revision: 11, previous: stored },
      ],
    });
  });

  it('lets a write see earlier writes of its batch', () => {
    const writes = [
      write('/a', undefined, 5),
      write('/a', two, 5),
      write('/a', two, 0),
      write('/a', one, 11),
    ];
    const { results, events } = decide(writes, lookup, 9);
    expect(results).toEqual([
      { ok: true, revision: 10 },
      { ok: false, current: undefined },
      { ok: true, revision: 11 },
      { ok: true, revision: 12 },
    ]);
    expect(events.at(-1)?.previous).toEqual({ key: '/a', value: two, revision: 11 });
  });

  it('does nothing for a delete of an absent key', () => {
    expect(decide([write('/b', undefined, 0)], lookup, 9)).toEqual({
      results: [{ ok: false, current: undefined }],
      events: [],
    });
  });
});
