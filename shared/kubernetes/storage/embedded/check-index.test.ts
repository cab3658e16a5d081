import { describe, expect, it } from 'vitest';
import { checkIndex } from './check-index.ts';

const value = new Uint8Array();
const item = (key: string, revision: number) => ({ key, value, revision });
const put = (key: string, revision: number) => event('put', key, revision);
const event = (type: 'put' | 'delete', key: string, revision: number) => ({
  type,
  key,
  revision,
  previous: 0,
  previousBytes: 0,
});

describe('checkIndex', () => {
  it('takes items whose history is forgotten or ends in them', () => {
    const history = [put('/b', 4), put('/c', 5), event('delete', '/c', 6)];
    checkIndex({ revision: 6, items: [item('/a', 2), item('/b', 4)], history });
    checkIndex({ revision: 1, items: [], history: [] });
  });

  it.each([
    ['two items of one revision', [item('/a', 2), item('/b', 2)], [], /\/a and \/b both have revision 2/],
    ['an item of a later revision', [item('/a', 9)], [], /\/a has revision 9, and the newest is 6/],
    ['a gap', [], [put('/a', 4), put('/a', 6)], /revisions 4 to 6 has gaps/],
    ['an end before the newest', [], [put('/a', 4), put('/a', 5)], /gaps/],
    [
      'an item that is not there',
      [],
      [put('/a', 6)],
      /\/a is missing, but its last event is the put of revision 6/,
    ],
    [
      'an item that was deleted',
      [item('/a', 3)],
      [event('delete', '/a', 6)],
      /\/a has revision 3, but its last event/,
    ],
    [
      'a revision of another key',
      [item('/a', 6), item('/b', 5)],
      [put('/b', 5), put('/b', 6)],
      /\/b has revision 5, but/,
    ],
  ])('refuses %s', (_, items, history, message) => {
    expect(() => checkIndex({ revision: 6, items, history })).toThrow(message);
  });
});
