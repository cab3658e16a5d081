import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { AdmissionRequest, StoredObjects } from '#shared/apiserver';
import { orderQuota } from './order-quota.ts';

it('admits no Order too many when one is stored and forgotten while another request still counts', async () => {
  const there = new Set<string>();
  const answers: (() => void)[] = [];
  const stored: StoredObjects = {
    get: async (_group, _plural, _namespace, name) =>
      there.has(name) ? { apiVersion: 'v1', kind: 'Order', metadata: { name } } : undefined,
    // It says how many there were when it was asked, and says so late.
    async count() {
      const count = there.size;
      await new Promise<void>((resolve) => answers.push(resolve));
      return count;
    },
  };
  const quota = orderQuota(
    stored,
    () => ({ 'limits.ordersPerNamespace': 1 }),
    () => new Date(0),
  );
  const kind = { group: 'arc.opendefense.cloud', version: 'v1alpha1', kind: 'Order' };
  const outcomes: string[] = [];
  const create = async (name: string) => {
    const about = { operation: 'CREATE', kind, subResource: '', namespace: 'team', name, dryRun: false };
    const asked = quota.validate?.(about as unknown as AdmissionRequest) ?? Promise.reject(new Error('none'));
    void asked.then(
      () => outcomes.push(`${name} admitted`),
      () => outcomes.push(`${name} refused`),
    );
    await setImmediate();
  };
  const answer = async () => {
    for (const resolve of answers.splice(0)) resolve();
    await setImmediate();
  };

  await create('first');
  await answer();
  await create('second');
  there.add('first');
  await create('third');
  await answer();
  await answer();
  expect(outcomes).toEqual(['first admitted', 'third refused', 'second refused']);
});
