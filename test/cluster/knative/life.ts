import { beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../shared/base/testing/eventually.ts';
import type { Program } from '../../fixtures/program.ts';
import { arc, ended } from './conduit.ts';
import { apply, field, kubectl, lines } from './kubectl.ts';
import { mostAtOnce, podRuns, runningNow, watchPods } from './pod-runs.ts';
import { objects, orderOf } from './team.ts';

const minutes = 60_000;
const limit = 2;
const many = 20;

/**
 * The rest of an Order's life on real Argo: schedules, limits, cancels and expiry. All Orders are made first and live beside each other; each test
 * waits for the end of one.
 */
export function describeLife(): void {
  describe('the life of an Order', { timeout: 12 * minutes }, () => {
    let watched: Program;

    beforeAll(async () => {
      await kubectl('apply', '-f', objects('stubborn.yaml'));
      watched = watchPods('team');
      await setting('1m');
      // The settings are read anew from time to time.
      await eventually('a schedule of each minute to be allowed', minutes, () => apply(scheduled()));
      await apply(stubborn('cancelled', ['one'], 300));
      await apply(stubborn('expiring', ['two'], 300, { ttl: '45s' }));
      await apply(limited());
      const places = Array.from({ length: many }, (_, at) => `limited-${at}`);
      await apply(
        stubborn('limited', places, 1, {
          defaults: { srcRef: { name: 'source' }, dstRef: { name: 'limited' } },
        }),
      );
    }, 2 * minutes);

    it('a cancel ends when the pod that ignores SIGTERM has ended, and not before', async () => {
      await eventually('the pod to run', 2 * minutes, () => {
        watched.mustRun();
        expect(podRuns(watched.output.stdout, 'cancelled').size).toBe(1);
      });
      await kubectl(
        '-n',
        'team',
        'patch',
        'order',
        'cancelled',
        '--type=merge',
        '-p',
        '{"spec":{"cancel":true}}',
      );
      await eventually('Order cancelled to be Cancelled', 3 * minutes, async () => {
        expect(await field('{.status.phase}', '-n', 'team', 'order', 'cancelled')).toBe('Cancelled');
      });
      expect(await runningNow('team', 'cancelled')).toEqual([]);
      await kubectl('-n', 'team', 'delete', 'order', 'cancelled', '--timeout=60s');
    });

    it('an expired Order goes with the Workflow that runs for it', async () => {
      await eventually('the Order and all that it owns to go', 4 * minutes, async () => {
        const left = await Promise.all(
          ['orders', 'artifactworkflows', 'workflows', 'pods'].map(async (kind) =>
            (await lines('-n', 'team', 'get', kind, '-o', 'name')).filter((name) =>
              name.includes('/expiring'),
            ),
          ),
        );
        expect(left.flat()).toEqual([]);
      });
      expect(podRuns(watched.output.stdout, 'expiring').size).toBe(1);
    });

    it(`an Endpoint with a maxInFlight of ${limit} has no more pods at once, of ${many}`, async () => {
      expect(await ended('team', 'limited')).toBe('Succeeded');
      const runs = [...podRuns(watched.output.stdout, 'limited').values()];
      expect(runs).toHaveLength(many);
      expect(mostAtOnce(runs)).toBeLessThanOrEqual(limit);
      await eventually('the slots to be free', minutes, async () =>
        expect(
          await field('{.status.inFlight}', '-n', 'team', 'endpoint.arc.opendefense.cloud', 'limited'),
        ).toMatch(/^(\[\])?$/),
      );
      await kubectl('-n', 'team', 'delete', 'order', 'limited');
    });

    it('a schedule has run three times, and the Order says so', async () => {
      await eventually('the third run', 6 * minutes, async () => {
        const path = '{.items[?(@.spec.cron)].status.succeeded}';
        expect(Number(await field(path, '-n', 'team', 'artifactworkflows'))).toBeGreaterThanOrEqual(3);
      });
      expect(await field('{.status.phase}', '-n', 'team', 'order', 'scheduled')).toMatch(
        /^(Scheduled|Running)$/,
      );
      expect(podRuns(watched.output.stdout, 'scheduled').size).toBeGreaterThanOrEqual(3);
      await kubectl('-n', 'team', 'delete', 'order', 'scheduled');
      await setting(null);
      await eventually('its CronWorkflow to go', minutes, async () =>
        expect(await lines('-n', 'team', 'get', 'cronworkflows', '-o', 'name')).toEqual([]),
      );
      await watched.stop();
      await kubectl('-n', 'team', 'delete', 'endpoint.arc.opendefense.cloud', 'limited');
      await kubectl('delete', '-f', objects('stubborn.yaml'));
    });
  });
}

/** An Order of artifacts that run for so long, whatever they are told, one in each place. */
function stubborn(name: string, places: readonly string[], seconds: number, spec: object = {}): object {
  return orderOf(
    name,
    places.map((place) => ({ type: 'stubborn', spec: { place, seconds } })),
    spec,
  );
}

/** Sets how far apart the runs of a schedule have to be; null for the default. */
async function setting(cronInterval: string | null): Promise<void> {
  const data = { 'limits.cronInterval': cronInterval };
  await kubectl(
    '-n',
    arc,
    'patch',
    'configmap',
    'arc-settings',
    '--type=merge',
    '-p',
    JSON.stringify({ data }),
  );
}

function scheduled(): object {
  const cron = { schedules: ['* * * * *'] };
  return orderOf('scheduled', [{ type: 'stubborn', spec: { place: 'three', seconds: 1 }, cron }]);
}

function limited(): object {
  return {
    apiVersion: 'arc.opendefense.cloud/v1alpha1',
    kind: 'Endpoint',
    metadata: { name: 'limited', namespace: 'team' },
    spec: { type: 'oci', remoteURL: 'http://destination.registries.svc:5000/limited', maxInFlight: limit },
  };
}
