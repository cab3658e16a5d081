import { describe, expect, it } from 'vitest';
import type { StepEvent } from '#shared/conduit/events';
import { explain, functionAt } from './explain.ts';

describe('functionAt', () => {
  it.each([
    [
      'http://broker-filter.knative-eventing.svc.cluster.local/triggers/arc-system/sync-status/5d1c',
      'sync-status',
    ],
    ['http://sync-status.arc-system.svc.cluster.local', 'sync-status'],
    ['http://127.0.0.1:4711/', '127.0.0.1:4711'],
    ['http://[::1]:4711/', '[::1]:4711'],
    ['no URL', 'unknown'],
    [undefined, 'unknown'],
  ])('finds in the URL %s the function %s', (destination, name) => {
    expect(functionAt(destination)).toBe(name);
  });
});

describe('explain', () => {
  const event: StepEvent = {
    kind: 'Order',
    apiVersion: 'arc.opendefense.cloud/v1alpha1',
    namespace: 'team',
    name: 'one',
    uid: 'u',
    step: 'roll-up',
    reason: 'generation 2',
  };
  const said = (failure: { status?: number; body?: string }) =>
    explain('roll-up-order', { ...event, failure: { destination: 'http://x/', ...failure } });

  it('quotes the message of an answer of our functions', () => {
    const body = JSON.stringify({ reason: 'Conflict', message: 'orders "one" has been changed.' });
    expect(said({ status: 409, body })).toBe(
      'function roll-up-order failed every delivery of the step "roll-up"; its last answer was 409: orders "one" has been changed. It is tried again within a minute while it is due.',
    );
  });

  it('quotes any other answer on one line and cuts it', () => {
    expect(said({ status: 502, body: '<html>\n\u0000bad\tgateway ' })).toContain(
      'its last answer was 502: <html> bad gateway.',
    );
    expect(said({ status: 500, body: 'x'.repeat(1024) }).length).toBeLessThan(450);
    expect(said({ status: 500, body: '{"message":5}' })).toContain('{"message":5}');
  });

  it('says when there was no answer and when the answer is not known', () => {
    expect(said({})).toContain('; it gave no answer.');
    expect(explain('unknown', event)).toContain(
      'a function failed every delivery of the step "roll-up"; its last answer is not known.',
    );
  });
});
