import { describe, expect, it } from 'vitest';
import { planOrder } from '../plan/plan.ts';
import { rollUp } from '../roll-up/rollup.ts';
import { broken, done, image, inputs, made, now, order } from '../testing/plan-objects.ts';
import { artifactWorkflowExpiry, orderExpiry } from './ttl.ts';

const of = order([image('a')]);

const iso = (date: Date | undefined) => date?.toISOString();

describe('expiry', () => {
  it.each([
    [{}, done, undefined],
    [{ ttlAfterFinished: '0' }, done, '2026-01-02T03:00:00.000Z'],
    [{ ttlAfterFinished: '1h' }, done, '2026-01-02T04:00:00.000Z'],
    [{ ttlAfterFinished: '1h' }, broken, undefined],
    [{ ttlAfterFailed: '1h' }, broken, '2026-01-02T04:00:00.000Z'],
    [{ ttlAfterFailed: '0', ttlAfterFinished: '0' }, { phase: 'Running' as const }, undefined],
  ])('with %j and %j is at %s', (spec, status, at) => {
    expect(iso(artifactWorkflowExpiry(made(of, status, spec), undefined))).toBe(at);
  });

  it('waits until the status of the Order records the end', () => {
    const workflow = made(of, done, { ttlAfterFinished: '0' });
    const running = {
      ...of,
      status: rollUp(of, planOrder(of, inputs()), [made(of, { phase: 'Running' })], now),
    };
    expect(artifactWorkflowExpiry(workflow, running)).toBeUndefined();
    const shown = { ...of, status: rollUp(of, planOrder(of, inputs()), [workflow], now) };
    expect(iso(artifactWorkflowExpiry(workflow, shown))).toBe('2026-01-02T03:00:00.000Z');
    expect(iso(artifactWorkflowExpiry(workflow, of))).toBe('2026-01-02T03:10:00.000Z');
  });

  it('beyond the calendar never comes', () => {
    const finished = { ...done, completionTime: '+275760-09-13T00:00:00Z' };
    expect(artifactWorkflowExpiry(made(of, finished, { ttlAfterFinished: '1h' }), undefined)).toBeUndefined();
    expect(orderExpiry({ ...of, spec: { ttl: '9999999999999999h' } })).toBeUndefined();
  });

  it('of an Order counts from its creation', () => {
    const born = { ...of, metadata: { ...of.metadata, creationTimestamp: '2026-01-01T00:00:00Z' } };
    expect(iso(orderExpiry({ ...born, spec: { ttl: '24h' } }))).toBe('2026-01-02T00:00:00.000Z');
    expect(orderExpiry(born)).toBeUndefined();
    expect(iso(orderExpiry({ ...born, spec: { ttl: '0' } }))).toBe('2026-01-01T00:00:00.000Z');
  });
});
