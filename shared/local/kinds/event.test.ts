import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#shared/kubernetes/apiserver';
import { events, lastSeen } from './event.ts';

const event = (over: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'e', creationTimestamp: '2026-01-01T00:00:00Z' },
  involvedObject: { kind: 'Order', name: 'o', uid: 'u' },
  ...over,
});

describe('events', () => {
  it('can be selected by what they are about', () => {
    const select = (field: string) => events.selectableFields?.[field]?.(event({ reason: 'Because' }));
    expect(select('involvedObject.kind')).toBe('Order');
    expect(select('involvedObject.uid')).toBe('u');
    expect(select('involvedObject.fieldPath')).toBe('');
    expect(select('reason')).toBe('Because');
  });

  it('print as kubectl shows them', () => {
    const one = event({ type: 'Warning', reason: 'R', message: 'm\n', source: { component: 'f' }, count: 3 });
    const row = Object.fromEntries(events.columns.map((column) => [column.name, column.value(one)]));
    expect(row).toEqual({
      'Last Seen': '2026-01-01T00:00:00Z',
      Type: 'Warning',
      Reason: 'R',
      Object: 'order/o',
      Subobject: undefined,
      Source: 'f',
      Message: 'm',
      'First Seen': '2026-01-01T00:00:00Z',
      Count: 3,
      Name: 'e',
    });
    const shown = events.columns.filter(({ priority = 0 }) => priority === 0).map(({ name }) => name);
    expect(shown).toEqual(['Last Seen', 'Type', 'Reason', 'Object', 'Message']);
  });

  it('accept what Go clients send: nulls for absent times', () => {
    const sent = {
      involvedObject: {},
      eventTime: null,
      firstTimestamp: null,
      lastTimestamp: null,
      source: {},
    };
    expect(events.schema.safeParse(sent).success).toBe(true);
  });
});

describe('lastSeen', () => {
  it('prefers the series, then the last time, then the creation', () => {
    const lastTimestamp = '2026-01-02T00:00:00Z';
    const series = { lastObservedTime: '2026-01-03T00:00:00Z' };
    expect(lastSeen(event({ lastTimestamp, series }))).toBe('2026-01-03T00:00:00Z');
    expect(lastSeen(event({ lastTimestamp }))).toBe(lastTimestamp);
    expect(lastSeen(event({ lastTimestamp: null }))).toBe('2026-01-01T00:00:00Z');
  });
});
