import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { artifactWorkflows, orders, workflows } from '#shared/domain';
import { type Conduit, startConduit } from '../fixtures/standalone/conduit.ts';

const many = 300;
/** Workflows of the greedy tenant that have ended before the honest one asks: all its steps are under way by then. */
const underWay = 10;

describe('an Order of one artifact beside one of three hundred in another namespace', () => {
  let conduit: Conduit;

  beforeAll(async () => {
    conduit = await startConduit();
    await conduit.typeOf('light', 'test/light:1');
  });
  afterAll(() => conduit?.close());

  const artifacts = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      type: 'light',
      spec: { image: `team/app-${index}:1.0` },
    }));

  it('is served among the next ones, at every step, and not behind the backlog', async () => {
    const greedy = await conduit.tenant('greedy');
    const honest = await conduit.tenant('honest');
    await greedy.order('many', artifacts(many));
    const ended = async () => {
      const { items } = await conduit.api.list(workflows, { namespace: 'greedy' });
      return items.filter(({ status }) => status?.phase === 'Succeeded').length;
    };
    await expect.poll(ended, { timeout: 120_000, interval: 100 }).toBeGreaterThanOrEqual(underWay);

    const before = await ended();
    await honest.order('one', artifacts(1));
    await honest.ended('one');
    const after = await ended();
    // Eight steps; at each the greedy one has a few turns while it is under way. Behind the backlog it would be all of them.
    expect(after - before).toBeLessThan(many / 3);

    // Whoever sets force-at every second delays itself: what it had begun is stopped, and all of it runs again.
    for (const second of [1, 2, 3]) {
      const forceAt = String(Math.floor(Date.now() / 1000) - 10 + second);
      await greedy.patch(orders, 'many', {
        metadata: { annotations: { 'arc.opendefense.cloud/force-at': forceAt } },
      });
      await honest.order(`beside-${second}`, artifacts(1));
      await honest.ended(`beside-${second}`);
    }
    const { items } = await conduit.api.list(artifactWorkflows, { namespace: 'greedy' });
    expect(items.some(({ status }) => status?.phase !== 'Succeeded')).toBe(true);
  }, 600_000);
});
