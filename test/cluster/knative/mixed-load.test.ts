import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { install, uninstall } from './conduit.ts';
import type { Registries } from './images.ts';
import { kubectl } from './kubectl.ts';
import { mixedLoad } from './mixed/load.ts';
import { favourApiServer } from './mixed/processor.ts';
import { objects, prepareTeam, removeTeam } from './team.ts';

const minutes = 60_000;
/** How long; an hour in `npm run soak`. Not in the suite: production.test.ts has some seconds of it. */
const seconds = Number(process.env.ARC_SOAK_SECONDS ?? 0);
const installation = { overlay: objects('mixed-load'), volumes: ['arc-etcd-0'] };

describe.skipIf(seconds === 0)('honest Orders beside hostile clients', () => {
  let registries: Registries;
  let favourNobody: () => Promise<void>;
  beforeAll(async () => {
    await removeTeam();
    await install(installation);
    await kubectl('delete', 'orders', '--all', '-A');
    registries = await prepareTeam();
    favourNobody = await favourApiServer();
  }, 10 * minutes);
  afterAll(async () => {
    await favourNobody?.();
    await removeTeam();
    await uninstall(installation);
  }, 6 * minutes);

  it('end as they should, and nothing restarts, fails or stands still', {
    timeout: seconds * 1000 + 20 * minutes,
  }, async () => {
    const summary = await mixedLoad(registries, seconds);
    console.log(JSON.stringify(summary));
    expect(summary.honest.wrong).toEqual([]);
    expect(summary.honest.settled).toBeGreaterThan(0);
    expect(summary.surprises).toEqual([]);
    expect(summary.restarts).toEqual([]);
    expect(summary.longestWorkMs).toBeLessThanOrEqual(200);
    expect(summary.pausesOver200Ms).toBe(0);
  });
});
