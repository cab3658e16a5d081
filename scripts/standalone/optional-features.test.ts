import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger } from '#shared/base/telemetry';
import { settingsMap } from '#shared/conduit/function-kit';
import { configMaps, orders } from '#shared/domain';
import { loadManifests, type Manifest } from '#shared/local';
import { order } from '../../shared/domain/testing/objects.ts';
import { isInstalled, type OptionalFeature, optionalFeatures, withoutFeatures } from './optional-features.ts';
import { startStandalone } from './standalone.ts';

const root = path.resolve(import.meta.dirname, '../../knative');
const base = await loadManifests(path.join(root, 'base'));
const nameOf = ({ kind, metadata }: Manifest) => `${kind} ${metadata.name}`;

/** What a switch takes away, and what of the rest it changes. */
async function effectOf(name: OptionalFeature) {
  const left = await withoutFeatures(base, [name]);
  const kept = new Map(left.map((one) => [nameOf(one), JSON.stringify(one)]));
  const changed = base.filter(
    (one) => kept.has(nameOf(one)) && kept.get(nameOf(one)) !== JSON.stringify(one),
  );
  const find = (wanted: string) => left.find((one) => nameOf(one) === wanted);
  return {
    gone: base.map(nameOf).filter((one) => !kept.has(one)),
    changed: changed.map(nameOf).toSorted(),
    settings: find('ConfigMap arc-settings')?.data,
    text: [...kept.values()].join('\n'),
    left,
  };
}

const whole = (name: string, ...more: string[]) =>
  [
    `ServiceAccount ${name}`,
    `ClusterRole arc-${name}`,
    ...more,
    `ClusterRoleBinding arc-${name}`,
    `Service ${name}`,
    `Trigger ${name}`,
    `PodDisruptionBudget ${name}`,
  ].toSorted();

describe('the components that switch a feature off', () => {
  it('no-ttl takes expire-objects away', async () => {
    const { gone, changed, settings, left } = await effectOf('ttl');
    expect(gone.toSorted()).toEqual(whole('expire-objects'));
    expect([changed, settings]).toEqual([['ConfigMap arc-settings'], { 'features.ttl': 'off' }]);
    expect([isInstalled(base, 'expire-objects'), isInstalled(left, 'expire-objects')]).toEqual([true, false]);
  });

  it('no-probes takes probe-endpoint away, its right to read Secrets included', async () => {
    const { gone, changed, settings } = await effectOf('probes');
    expect(gone.toSorted()).toEqual(whole('probe-endpoint', 'ClusterRole arc-probe-endpoint-tenant'));
    expect([changed, settings]).toEqual([['ConfigMap arc-settings'], { 'features.probes': 'off' }]);
  });

  it('no-log-tail takes the right to read logs away, and not that to see when pods have ended', async () => {
    const { gone, changed, settings, left, text } = await effectOf('log-tail');
    expect([gone, settings]).toEqual([[], { 'features.logTail': 'off' }]);
    expect(changed).toEqual(['ClusterRole arc-sync-status-tenant', 'ConfigMap arc-settings']);
    expect(text).not.toContain('pods/log');
    const role = left.find((one) => nameOf(one) === 'ClusterRole arc-sync-status-tenant');
    expect(role).toMatchObject({ rules: [{ resources: ['pods'], verbs: ['list'] }] });
  });

  it('no-domain-events takes the EventTypes away, and the right to note what was announced', async () => {
    const { gone, changed, settings, text } = await effectOf('domain-events');
    expect(new Set(gone.map((one) => one.split(' ')[0]))).toEqual(new Set(['EventType']));
    expect(changed).toEqual(['ClusterRole arc-watch-bridge', 'ConfigMap arc-settings']);
    expect(settings).toEqual({ 'features.domainEvents': 'off' });
    expect(text).not.toContain('EventType');
  });

  it('no-cron takes every right on CronWorkflows away, and no other', async () => {
    const { gone, changed, settings, text } = await effectOf('cron');
    expect([gone, settings]).toEqual([[], { 'features.cron': 'off' }]);
    expect(changed).toEqual([
      'ClusterRole arc-submit-workflow-tenant',
      'ClusterRole arc-sync-status',
      'ClusterRole arc-watch-bridge',
      'ConfigMap arc-settings',
      'Deployment watch-bridge',
    ]);
    expect(text).not.toContain('cronworkflows');
    const rights = (manifests: readonly Manifest[]) =>
      manifests
        .filter(({ kind }) => kind === 'ClusterRole')
        .flatMap(({ metadata, rules }) => [metadata.name, JSON.stringify(rules)])
        .join()
        .replace(/,?"cronworkflows"/g, '')
        .replace(/,\{"apiGroups":\["argoproj.io"\],"resources":\[\],"verbs":\["get"\]\}/g, '');
    expect(rights((await effectOf('cron')).left)).toBe(rights(base));
  });

  it('work together, in any order and twice', async () => {
    const all = await withoutFeatures(base, [...optionalFeatures, ...optionalFeatures]);
    const reversed = await withoutFeatures(base, optionalFeatures.toReversed());
    expect(all.map(nameOf)).toEqual(reversed.map(nameOf));
    const settings = all.find((one) => nameOf(one) === 'ConfigMap arc-settings')?.data;
    expect(Object.values(settings as object)).toEqual(Array(5).fill('off'));
  });
});

describe('the standalone without all of it', () => {
  it('works, refuses the fields by name, and has everything again at the next start', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'optional-features-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const options = { folder, port: 0, programs: {}, log: createLogger({ name: 'test', level: 'silent' }) };
    const given = (name: string, spec: object = {}) => {
      const { apiVersion, kind, ...one } = order(name, ['a:1'], spec);
      return { apiVersion, kind, metadata: { name, namespace: 'default' }, spec: one.spec };
    };

    const bare = await startStandalone({ ...options, without: optionalFeatures });
    const settings = (await bare.admin.get(configMaps, settingsMap))?.data ?? {};
    expect(Object.keys(settings).filter((key) => key.startsWith('features.'))).toHaveLength(
      optionalFeatures.length,
    );
    expect(settings['probes.allowedRanges']).toContain('127.0.0.0/8');
    await bare.admin.mergePatch(configMaps, settingsMap, { data: { 'probes.allowedRanges': '' } });
    const refused = bare.admin.create(orders, given('kept', { ttl: '1h' }));
    await expect(refused).rejects.toThrow(
      'spec.ttl: Forbidden: times to live are switched off: features.ttl',
    );
    const { metadata } = await bare.admin.create(orders, given('plain'));
    const message = async () => (await bare.admin.get(orders, metadata))?.status?.message;
    await expect.poll(message, { timeout: 30_000 }).toContain('source Endpoint "source" not found');
    await bare.close();

    const whole = await startStandalone(options);
    onTestFinished(() => whole.close());
    expect((await whole.admin.get(configMaps, settingsMap))?.data).toEqual({
      'probes.allowedRanges': '',
    });
    expect(await whole.admin.create(orders, given('kept', { ttl: '1h' }))).toMatchObject({
      spec: { ttl: '1h' },
    });
  });
});
