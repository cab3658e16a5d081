import { describe, expect, it } from 'vitest';
import { explain, refuserOf } from './explain.ts';

describe('refuserOf', () => {
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
  ])('finds in %s %s', (destination, name) => {
    expect(refuserOf(destination)).toBe(name);
  });
});

describe('explain', () => {
  const wake = {
    kind: 'Order',
    apiVersion: 'arc.opendefense.cloud/v1alpha1',
    namespace: 'team',
    name: 'one',
    uid: 'u',
    reason: 'changed',
  };
  const said = (failure: { status?: number; body?: string }) =>
    explain('roll-up-order', { ...wake, failure: { destination: 'http://x/', ...failure } });

  it('gives the message of our own functions', () => {
    const body = JSON.stringify({ reason: 'Conflict', message: 'orders "one" has been changed.' });
    expect(said({ status: 409, body })).toBe(
      'function roll-up-order was woken (changed) again and again and answered 409: orders "one" has been changed. The next resync wakes it anew.',
    );
  });

  it('gives what others answered on one line, cut', () => {
    expect(said({ status: 502, body: '<html>\n\u0000bad\tgateway ' })).toContain(
      'answered 502: <html> bad gateway.',
    );
    expect(said({ status: 500, body: 'x'.repeat(1024) }).length).toBeLessThan(450);
    expect(said({ status: 500, body: '{"message":5}' })).toContain('{"message":5}');
  });

  it('says when there was no answer, and when nobody knows', () => {
    expect(said({})).toContain('gave no answer.');
    expect(explain('unknown', wake)).toContain(
      'a function was woken (changed) again and again and gave no answer that counts.',
    );
  });
});
