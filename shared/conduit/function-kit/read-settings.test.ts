import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { configMaps } from '#shared/domain';
import { FakeApi } from '../../kubernetes/client/testing/fake-api/fake-api.ts';
import { contextOf } from '../runtime/testing/handler-context.ts';
import { readSettings, settingsMap } from './read-settings.ts';

const map = (data?: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { ...settingsMap },
  ...(data && { data }),
});
const start = new Date('2026-01-02T00:00:00Z');
const later = (seconds: number) => new Date(start.getTime() + seconds * 1000);

describe('readSettings', () => {
  it('are none without the ConfigMap, and without data in it', async () => {
    expect(await readSettings(contextOf(new FakeApi([])))).toEqual({});
    expect(await readSettings(contextOf(new FakeApi([map()])))).toEqual({});
  });

  it('are read again after ten seconds, or when the clock has jumped back', async () => {
    const api = new FakeApi([map({ 'defaults.onChange': 'Keep' })]);
    const context = contextOf(api, start);
    expect(await readSettings(context)).toEqual({ 'defaults.onChange': 'Keep' });
    const change = (value: string) =>
      api.client.mergePatch(configMaps, settingsMap, { data: { 'defaults.onChange': value } });
    await change('Rerun');
    expect(await readSettings({ ...context, now: later(9) })).toEqual({ 'defaults.onChange': 'Keep' });
    expect(await readSettings({ ...context, now: later(10) })).toEqual({ 'defaults.onChange': 'Rerun' });
    await change('RerunUnfinished');
    expect(await readSettings({ ...context, now: later(-60) })).toEqual({
      'defaults.onChange': 'RerunUnfinished',
    });
  });

  it('keep the last good value of a wrong key, which the metric names until it is right', async () => {
    const api = new FakeApi([map({ 'defaults.retry.limit': '4' })]);
    const context = contextOf(api, start);
    await readSettings(context);
    const data = { 'defaults.retry.limit': 'four', 'default.retry': '4' };
    await api.client.mergePatch(configMaps, settingsMap, { data });
    expect(await readSettings({ ...context, now: later(20) })).toEqual({ 'defaults.retry.limit': 4 });
    expect(context.metrics.expose()).toContain('arc_settings_invalid{key="defaults.retry.limit"} 1');
    expect(context.metrics.expose()).toContain('arc_settings_invalid{key="other"} 1');
    await api.client.mergePatch(configMaps, settingsMap, {
      data: { 'defaults.retry.limit': '5', 'default.retry': null },
    });
    expect(await readSettings({ ...context, now: later(40) })).toEqual({ 'defaults.retry.limit': 5 });
    expect(context.metrics.expose()).not.toMatch(/arc_settings_invalid\{[^}]*\} 1/);
  });

  it('are not passed over when the API does not answer', async () => {
    const api = new FakeApi([map()]);
    api.before = () => {
      throw new ArcError('ServiceUnavailable', 'away');
    };
    await expect(readSettings(contextOf(api))).rejects.toMatchObject({ code: 'ServiceUnavailable' });
  });
});
