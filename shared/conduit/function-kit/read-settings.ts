import { isDeepStrictEqual } from 'node:util';
import type { Context } from '#shared/conduit/runtime';
import {
  conduitNamespace,
  configMaps,
  isSettingKey,
  parseSettings,
  type SettingProblem,
  type Settings,
  settingsName,
} from '#shared/domain';

/** The ConfigMap with the operator's settings. */
export const settingsMap = { namespace: conduitNamespace, name: settingsName };

/** The operator's settings as known to a process. */
export interface KnownSettings {
  readonly current: Settings;
  /** Takes the data of the ConfigMap, undefined if it does not exist. Reports each invalid key once; its last valid value stays. */
  update(data: Readonly<Record<string, string>> | undefined): void;
}

/** Starts without settings. Invalid keys are logged and counted in the metric `arc_settings_invalid`. */
export function knownSettings({ log, metrics }: Pick<Context, 'log' | 'metrics'>): KnownSettings {
  const invalid = metrics.gauge({
    name: 'arc_settings_invalid',
    help: `1 for each key of ConfigMap ${settingsName} that is wrong; its last good value is in force. Keys that do not exist count as "other".`,
    labels: ['key'],
  });
  let current: Settings = {};
  let named: readonly SettingProblem[] = [];
  return {
    get current() {
      return current;
    },
    update(data = {}) {
      const { settings, problems } = parseSettings(data, current);
      current = settings;
      if (isDeepStrictEqual(problems, named)) return;
      for (const { key, message } of problems)
        log.error(
          { key, problem: message, settings: settingsMap },
          'an operator setting is wrong; its last good value stays',
        );
      const labelOf = ({ key }: SettingProblem) => (isSettingKey(key) ? key : 'other');
      for (const key of named.map(labelOf)) invalid.set(0, { key });
      for (const key of problems.map(labelOf)) invalid.set(1, { key });
      named = problems;
    },
  };
}

/** Maximum age of a function's settings, in milliseconds. */
const maxAgeMs = 10_000;

/** The settings of each process, by its metrics, which are created once. */
const read = new WeakMap<Context['metrics'], { at: number; known: KnownSettings }>();

/**
 * Returns the operator's settings, at most ten seconds old, or read anew if `maxAge` is 0 (ms). Rejects with errors of the API: without settings,
 * policies that the operator enforces would be ignored.
 */
export async function readSettings(
  context: Pick<Context, 'api' | 'log' | 'metrics' | 'now' | 'signal'>,
  maxAge = maxAgeMs,
): Promise<Settings> {
  const { api, metrics, now, signal } = context;
  const before = read.get(metrics);
  if (before && Math.abs(now.getTime() - before.at) < maxAge) return before.known.current;
  const map = await api.get(configMaps, settingsMap, signal);
  const known = before?.known ?? knownSettings(context);
  known.update(map?.data);
  read.set(metrics, { at: now.getTime(), known });
  return known.current;
}
