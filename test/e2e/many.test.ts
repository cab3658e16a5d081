import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { orders } from '#shared/domain';
import { type Conduit, startConduit } from '../fixtures/standalone/conduit.ts';

const good = 40;
const missing = 10;
const failing = 10;

describe('an Order of sixty artifacts, twenty of them bad', () => {
  let conduit: Conduit;

  beforeAll(async () => {
    conduit = await startConduit({
      programs: { 'test/failing:*': ['/bin/sh', '-c', 'echo no such thing; exit 11'] },
    });
    await conduit.typeOf('light', 'test/light:1');
    await conduit.typeOf('failing', 'test/failing:1');
  });
  afterAll(() => conduit?.close());

  it('counts right at every moment, names each that is bad, and costs few writes', async () => {
    const tenant = await conduit.tenant('many');
    const watching = new AbortController();
    const { resourceVersion } = await conduit.api.list(orders, { namespace: 'many' });
    const seen: { phase?: string; total: number; sum: number; version: string }[] = [];
    const follow = (async () => {
      for await (const event of conduit.api.watch(
        orders,
        { namespace: 'many', resourceVersion },
        watching.signal,
      )) {
        if (event.type === 'BOOKMARK' || event.object.status?.counts === undefined) continue;
        const { phase = '', counts } = event.object.status;
        const { total, ...parts } = counts;
        const sum = Object.values(parts).reduce((all, part) => all + part, 0);
        seen.push({ phase, total, sum, version: event.object.metadata.resourceVersion ?? '' });
        if (phase === 'Failed') return;
      }
    })();

    const artifact = (index: number, type: string) => ({ type, spec: { image: `team/app-${index}:1.0` } });
    await tenant.order(
      'order',
      Array.from({ length: good + missing + failing }, (_, index) => {
        if (index % 6 === 4) return { ...artifact(index, 'light'), srcRef: { name: 'nobody' } };
        return artifact(index, index % 6 === 5 ? 'failing' : 'light');
      }),
    );
    const { status } = await tenant.when('order', 'Failed', ({ status }) => status?.phase === 'Failed', 60);
    await follow;
    watching.abort();

    expect(status?.counts).toEqual({
      total: 60,
      invalid: missing,
      failed: failing,
      cancelled: 0,
      succeeded: good,
      running: 0,
      pending: 0,
    });
    for (const { total, sum } of seen) expect([total, sum]).toEqual([60, 60]);
    const entries = Object.values(status?.artifactWorkflows ?? {});
    expect(entries.map(({ artifactIndex }) => artifactIndex).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 60 }, (_, index) => index),
    );
    for (const { artifactIndex, phase, message } of entries) {
      const expected = { 4: ['Invalid', '"nobody" not found'], 5: ['Failed', 'no such thing'] }[
        artifactIndex % 6
      ] ?? ['Succeeded', ''];
      expect([phase, message ?? '']).toEqual([expected[0], expect.stringContaining(expected[1] ?? '')]);
    }
    expect(tenant.started()).toHaveLength(good + failing);
    // Twenty or so and the first and the last, however many artifacts end.
    expect(seen.length).toBeLessThanOrEqual(24);
  }, 300_000);
});
