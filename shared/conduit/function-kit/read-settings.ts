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

/** The operator's settings as one process knows them. */
export interface KnownSettings {
  readonly current: Settings;
  /** Takes the data of the ConfigMap, none where it does not exist. Names each key that is wrong, once; its last good value stays. */
  update(data: Readonly<Record<string, string>> | undefined): void;
}

/** Nothing set. Wrong keys go to the log and are counted in the metric `arc_settings_invalid`. */
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

/** How old the settings of a function may be, in milliseconds. */
const maxAgeMs = 10_000;

/** What each process has read, by its metrics: those are made once. */
const read = new WeakMap<Context['metrics'], { at: number; known: KnownSettings }>();

/**
 * The operator's settings, at most ten seconds old, or read anew where `maxAge` is 0 (ms). Rejects with what the API answers when they cannot be read: what the operator
 * enforces must not be passed over.
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
