import { describe, expect, it } from 'vitest';
import { type StepEventInput, stepEvent } from './step-event.ts';

const input: StepEventInput = {
  object: {
    apiVersion: 'arc.opendefense.cloud/v1alpha1',
    kind: 'Order',
    namespace: 'n',
    name: 'o',
    uid: 'u-order',
  },
  observed: {
    apiVersion: 'v1',
    kind: 'Secret',
    namespace: 'n',
    name: 's',
    uid: 'u-secret',
    resourceVersion: '12',
  },
  step: 'decompose',
  reason: 'generation 2',
  partitionKey: 'u-order',
  time: new Date('2026-01-02T03:04:05.678Z'),
};

describe('stepEvent', () => {
  it('has the attributes that Triggers filter by', () => {
    expect(stepEvent(input)).toMatchObject({
      specversion: '1.0',
      id: 'u-order/decompose/u-secret/12',
      type: 'cloud.opendefense.arc.step.v1',
      source: '/apis/arc.opendefense.cloud/v1alpha1',
      subject: 'n/o',
      time: '2026-01-02T03:04:05.678Z',
      kind: 'Order',
      apiversion: 'arc.opendefense.cloud/v1alpha1',
      namespace: 'n',
      name: 'o',
      uid: 'u-order',
      step: 'decompose',
      reason: 'generation 2',
      partitionkey: 'u-order',
      data: input.observed,
    });
  });

  it('has the same id for the same cause, and another for every other cause', () => {
    const later = { ...input, time: new Date(0) };
    expect(stepEvent(later).id).toBe(stepEvent(input).id);
    const others: StepEventInput[] = [
      { ...input, step: 'roll-up' },
      { ...input, epoch: 7 },
      { ...input, epoch: 8 },
      { ...input, object: { ...input.object, uid: 'u2' } },
      { ...input, observed: { ...input.observed, uid: 'u2' } },
      { ...input, observed: { ...input.observed, resourceVersion: '13' } },
    ];
    const ids = others.map((other) => stepEvent(other).id);
    expect(new Set([...ids, stepEvent(input).id]).size).toBe(7);
    expect(stepEvent({ ...input, epoch: 7 }).id).toBe('u-order/decompose/u-secret/12/7');
  });

  it('starts a trace that is the same on every resend, unless it goes on with one', () => {
    const { traceparent } = stepEvent(input);
    expect(traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(stepEvent({ ...input, time: new Date(0) }).traceparent).toBe(traceparent);
    expect(stepEvent({ ...input, epoch: 7 }).traceparent).not.toBe(traceparent);
    const trace = {
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: 'a=b',
    };
    expect(stepEvent({ ...input, trace })).toMatchObject(trace);
  });

  it('cuts a reason to what an attribute may have', () => {
    const { reason } = stepEvent({ ...input, reason: 'é'.repeat(1_000) }) as { reason?: string };
    expect(Buffer.byteLength(reason ?? '')).toBeLessThanOrEqual(253);
  });

  it('leaves out what there is not', () => {
    expect(Object.keys(stepEvent(input))).not.toContain('tracestate');
  });
});
