import { describe, expect, it } from 'vitest';
import { expiredEvents, seenOf } from './expiry.ts';
import { nodeOf } from './graph.ts';

const kind = { apiVersion: 'v1', kind: 'Event', plural: 'events', namespaced: true };
const event = (name: string, lastTimestamp: string | null, creationTimestamp = '2026-01-01T00:00:00Z') => {
  const object = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, uid: name, creationTimestamp },
    lastTimestamp,
  };
  return nodeOf(kind, object, seenOf(kind, object));
};

describe('expiredEvents', () => {
  it('are those not seen for an hour', () => {
    const nodes = [
      event('old', '2026-01-01T10:00:00Z'),
      event('new', '2026-01-01T11:30:00Z'),
      event('untold', null),
    ];
    const expired = expiredEvents(nodes, new Date('2026-01-01T12:00:00Z'));
    expect(expired.map((node) => node.name)).toEqual(['old', 'untold']);
  });

  it('are never objects of another kind, and at most a batch', () => {
    const order = { apiVersion: 'x/v1', kind: 'Order', plural: 'orders', namespaced: true };
    expect(seenOf(order, { apiVersion: 'x/v1', kind: 'Order', metadata: { name: 'o' } })).toBeUndefined();
    const many = Array.from({ length: 600 }, (_, n) => event(String(n), null));
    expect(expiredEvents(many, new Date('2026-02-01T00:00:00Z'))).toHaveLength(500);
  });
});
