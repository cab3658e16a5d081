import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../shared/base/testing/eventually.ts';
import { arc, desired, dev, ended } from './conduit.ts';
import type { Registries } from './images.ts';
import { apply, field, kubectl, lines } from './kubectl.ts';
import { podRuns, watchPods } from './pod-runs.ts';
import { mine, objects, order, orderOf } from './team.ts';

const minutes = 60_000;

/** What an Order says, whatever is done to it and to what it needs: a part of the one installation. @param registries of the team, once they are there */
export function describeTruth(registries: () => Registries): void {
  describe('the status of an Order is true', { timeout: 6 * minutes }, () => {
    it('after an edit and its rollback: the tag holds what the Order says', async () => {
      const { seed, digest, destination } = registries();
      const digests = {
        '1.0': await seed('chaos/rollback', '1.0'),
        '2.0': await seed('chaos/rollback', '2.0'),
      };
      for (const version of ['1.0', '2.0', '1.0'] as const) {
        await apply(rollback(version));
        await says('rollback', `Succeeded ${digests[version]}`);
        expect(await digest(`${destination}/mirror/rollback:stable`)).toBe(digests[version]);
      }
      expect(await mine('artifactworkflows', 'rollback')).toHaveLength(2);
      await kubectl('-n', 'team', 'delete', 'order', 'rollback');
    });

    it('while it is edited: no pod starts before the one that ignores SIGTERM has ended', async () => {
      await kubectl('apply', '-f', objects('stubborn.yaml'));
      const watched = watchPods('team');
      try {
        await apply(stubborn(300));
        await eventually('the first pod to run', minutes, () => {
          watched.mustRun();
          expect(podRuns(watched.output.stdout, 'stubborn').size).toBe(1);
        });
        await apply(stubborn(1));
        await says('stubborn', 'Succeeded');
        await eventually('both pods to have been seen', minutes / 4, () => {
          const [first, second] = [...podRuns(watched.output.stdout, 'stubborn').values()];
          // Both by the clock of the one node.
          expect(Date.parse(second?.started ?? '')).toBeGreaterThanOrEqual(Date.parse(first?.finished ?? ''));
        });
      } finally {
        await watched.stop();
      }
      await kubectl('-n', 'team', 'delete', 'order', 'stubborn');
      await kubectl('delete', '-f', objects('stubborn.yaml'));
    });

    it('while every part of the broker is restarted in the middle', async () => {
      await registries().seed('chaos/broker', '1.0', 2 * 1024 * 1024);
      await apply(order('broker', ['a', 'b']));
      await eventually('the Order to have begun', minutes, async () => {
        expect(await mine('artifactworkflows', 'broker')).not.toEqual([]);
      });
      const parts = ['mt-broker-ingress', 'mt-broker-filter', 'imc-dispatcher'].map(
        (name) => `deployment/${name}`,
      );
      await kubectl('-n', 'knative-eventing', 'rollout', 'restart', ...parts);
      expect(await ended('team', 'broker')).toBe('Succeeded');
      expect(await mine('workflows', 'broker')).toHaveLength(2);
      for (const part of parts)
        await kubectl('-n', 'knative-eventing', 'rollout', 'status', part, '--timeout=120s');
      await kubectl('-n', 'team', 'delete', 'order', 'broker');
    });

    it('while Argo is uninstalled, and after it is installed again', async () => {
      const kinds = (await lines('get', 'crds', '-o', 'name')).filter((name) =>
        name.endsWith('.argoproj.io'),
      );
      const definitions = (await Promise.all(kinds.map((name) => kubectl('get', name, '-o', 'json')))).map(
        (text) => definitionOf(JSON.parse(text)),
      );
      await registries().seed('chaos/argo', '1.0');
      await kubectl('delete', ...kinds, '--timeout=60s');
      try {
        await apply(order('argo', ['a']));
        await eventually('the Order to say what it waits for', minutes, async () => {
          expect(await field('{.status.message}', '-n', 'team', 'order', 'argo')).toMatch(/template|Argo/i);
        });
        // What was there before can be deleted without it.
        await apply(order('gone', ['a']));
        await kubectl('-n', 'team', 'delete', 'order', 'gone', '--timeout=60s');
      } finally {
        for (const definition of definitions) await apply(definition);
        await kubectl('wait', '--for=condition=Established', '--timeout=60s', ...kinds);
        // The templates went with their definition.
        await kubectl('apply', '-k', dev.overlay);
      }
      expect(await ended('team', 'argo')).toBe('Succeeded');
      await kubectl('-n', 'team', 'delete', 'order', 'argo');
    });
  });

  describe('five minutes after the last Order has ended', { timeout: 12 * minutes }, () => {
    it('no function has a pod, nor gets one', atRest);

    it('nor where the bridge watches Secrets', async () => {
      await kubectl('apply', '-k', objects('watched'));
      await kubectl('-n', arc, 'rollout', 'status', 'deployment/watch-bridge', '--timeout=120s');
      await registries().seed('chaos/watched', '1.0');
      await apply(order('watched', ['a']));
      expect(await ended('team', 'watched')).toBe('Succeeded');
      await atRest();
      await kubectl('apply', '-k', dev.overlay);
      for (const kind of ['clusterrolebinding', 'clusterrole'])
        await kubectl('delete', kind, 'arc-watch-bridge-secrets');
      await kubectl('-n', arc, 'rollout', 'status', 'deployment/watch-bridge', '--timeout=120s');
      await kubectl('-n', 'team', 'delete', 'order', 'watched');
    });
  });
}

/**
 * Every function goes to zero within five minutes, and stays there for longer than anything comes back each minute. A bridge that
 * has started sends what is due, once.
 */
async function atRest(): Promise<void> {
  const quietMs = 70_000;
  const deadline = performance.now() + 5 * minutes + quietMs;
  let since: number | undefined;
  let awake: string[] = [];
  while (performance.now() < deadline) {
    // Probes come every ten minutes or so.
    const all = (await desired()).filter((line) => !line.startsWith('probe-endpoint '));
    const now = all.filter((line) => !/ 0$/.test(line));
    if (now.length > 0) [awake, since] = [now, undefined];
    else since ??= performance.now();
    if (since !== undefined && performance.now() - since >= quietMs) return;
    await sleep(2_000);
  }
  expect(awake, 'functions that were awake last').toEqual([]);
}

/** Waits until the status is about the present generation and says this: the phase, and the digest of the one artifact. */
async function says(name: string, expected: string): Promise<void> {
  await eventually(`Order ${name} to say ${expected}`, 1.5 * minutes, async () => {
    const path =
      '{.metadata.generation} {.status.observedGeneration} {.status.phase} {.status.artifactWorkflows.*.digest}';
    const [generation, observed, ...rest] = (await field(path, '-n', 'team', 'order', name)).split(' ');
    expect([observed, rest.join(' ')]).toEqual([generation, expected]);
  });
}

function rollback(version: string): object {
  return orderOf('rollback', [
    { type: 'oci', spec: { image: `chaos/rollback:${version}`, override: 'rollback:stable' } },
  ]);
}

function stubborn(seconds: number): object {
  return orderOf('stubborn', [{ type: 'stubborn', spec: { place: 'one', seconds } }]);
}

/** A definition as it can be applied again. */
function definitionOf({ apiVersion, kind, metadata, spec }: Record<string, unknown>): object {
  const { name, annotations = {}, labels = {} } = metadata as Record<string, object>;
  const { 'kubectl.kubernetes.io/last-applied-configuration': _applied, ...kept } = annotations as Record<
    string,
    string
  >;
  return { apiVersion, kind, metadata: { name, annotations: kept, labels }, spec };
}
