import { describe, expect, it } from 'vitest';
import type { KubeEvent } from '#shared/domain';
import { createEarlyEvents } from './early-events.ts';

const event = (uid: string, object: string, count = 1): KubeEvent => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: uid, namespace: 'people', uid },
  involvedObject: { kind: 'ArtifactWorkflow', uid: object },
  count,
});

describe('createEarlyEvents', () => {
  it('gives the Events of an object once, each in its last state', () => {
    const early = createEarlyEvents(10);
    for (const each of [event('1', 'own'), event('2', 'foreign'), event('3', 'own'), event('1', 'own', 2)])
      early.add(each);
    expect(early.take('own')).toEqual([event('3', 'own'), event('1', 'own', 2)]);
    expect(early.take('own')).toEqual([]);
  });

  it('forgets the oldest, and not the one that has just come', () => {
    const early = createEarlyEvents(3);
    for (let at = 0; at < 10; at += 1) early.add(event(`f${at}`, `foreign-${at}`));
    early.add(event('1', 'own'));
    expect(early.take('own')).toEqual([event('1', 'own')]);
    expect(early.take('foreign-7')).toEqual([]);
    expect(early.take('foreign-9')).toHaveLength(1);
  });
});
