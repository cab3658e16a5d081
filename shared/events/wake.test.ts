import { describe, expect, it } from 'vitest';
import { type WakeInput, wakeEvent } from './wake.ts';

const input: WakeInput = {
  target: {
    apiVersion: 'arc.opendefense.cloud/v1alpha1',
    kind: 'Order',
    namespace: 'n',
    name: 'o',
    uid: 'u-order',
  },
  watched: {
    apiVersion: 'v1',
    kind: 'Secret',
    namespace: 'n',
    name: 's',
    uid: 'u-secret',
    resourceVersion: '12',
  },
  reason: 'inputs',
  partitionKey: 'u-order',
  time: new Date('2026-01-02T03:04:05.678Z'),
};

describe('wakeEvent', () => {
  it('has the attributes that Triggers filter by', () => {
    expect(wakeEvent(input)).toMatchObject({
      specversion: '1.0',
      id: 'u-order/u-secret/12/inputs',
      type: 'cloud.opendefense.arc.wake.v1',
      source: '/apis/arc.opendefense.cloud/v1alpha1',
      subject: 'n/o',
      time: '2026-01-02T03:04:05.678Z',
      kind: 'Order',
      apiversion: 'arc.opendefense.cloud/v1alpha1',
      namespace: 'n',
      name: 'o',
      uid: 'u-order',
      reason: 'inputs',
      partitionkey: 'u-order',
      data: input.watched,
    });
  });

  it('has the same id for the same cause, and another for every other cause', () => {
    const later = { ...input, time: new Date(0) };
    expect(wakeEvent(later).id).toBe(wakeEvent(input).id);
    const others: WakeInput[] = [
      { ...input, reason: 'changed' },
      { ...input, epoch: 7 },
      { ...input, epoch: 8 },
      { ...input, target: { ...input.target, uid: 'u2' } },
      { ...input, watched: { ...input.watched, uid: 'u2' } },
      { ...input, watched: { ...input.watched, resourceVersion: '13' } },
    ];
    const ids = others.map((other) => wakeEvent(other).id);
    expect(new Set([...ids, wakeEvent(input).id]).size).toBe(7);
    expect(wakeEvent({ ...input, epoch: 7 }).id).toBe('u-order/u-secret/12/inputs/7');
  });

  it('starts a trace that is the same on every resend, unless it goes on with one', () => {
    const { traceparent } = wakeEvent(input);
    expect(traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(wakeEvent({ ...input, time: new Date(0) }).traceparent).toBe(traceparent);
    expect(wakeEvent({ ...input, epoch: 7 }).traceparent).not.toBe(traceparent);
    const trace = {
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: 'a=b',
    };
    expect(wakeEvent({ ...input, trace })).toMatchObject(trace);
  });

  it('leaves out what there is not', () => {
    expect(Object.keys(wakeEvent(input))).not.toContain('tracestate');
  });
});
