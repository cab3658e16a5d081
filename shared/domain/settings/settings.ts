import { isObjectName } from '../identity/names.ts';
import { durationProblem, quoted } from '../values/causes.ts';
import { parseDuration } from '../values/duration.ts';
import {
  defaultHistoryLimit,
  defaultRerunsPerMinute,
  defaultWriteRate,
  namespaceDefaults,
  shortestCronIntervalMs,
} from '../values/limits.ts';
import { parseQuantity } from '../values/quantity.ts';
import { parseAddressRange } from './address-ranges.ts';
import { isHostPattern } from './hosts.ts';

/** The ConfigMap with the operator's settings, in the conduit's namespace. Each key of its data is one setting. */
export const settingsName = 'arc-settings';

/** One setting: its parser and its documentation. */
export interface Setting<T> {
  /** Returns undefined for an invalid text. */
  parse(text: string): T | undefined;
  /** The form of the text, in words. */
  form: string;
  /** The behaviour without the setting. */
  unset: string;
  what: string;
  /** The value while the text is invalid. Without it, the last valid value stays in force. */
  wrong?: T;
}

type LimitedPlural = keyof typeof namespaceDefaults;
type Words = Pick<Setting<unknown>, 'unset' | 'what'>;

function whole(min: number, max: number, words: Words): Setting<number> {
  return {
    parse(text) {
      const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
      return value >= min && value <= max ? value : undefined;
    },
    form: `a whole number from ${min} to ${max}`,
    ...words,
  };
}

function duration(words: Words): Setting<string> {
  return {
    parse: (text) => (durationProblem(text) === undefined ? text : undefined),
    form: 'a duration such as 90s, 1h30m or 0, at most ten years',
    ...words,
  };
}

function choice<const Value extends string>(values: readonly Value[], words: Words): Setting<Value> {
  return {
    parse: (text) => values.find((value) => value === text),
    form: `one of ${values.join(', ')}`,
    ...words,
  };
}

const mostNames = 1_000;

/** Values separated by commas or lines. */
function listOf<T>(
  what: string,
  parse: (text: string) => T | undefined,
  words: Words,
): Setting<readonly T[]> {
  return {
    parse(text) {
      const texts = text.split(/[,\s]+/).filter((one) => one !== '');
      const values = texts.map(parse).filter((value) => value !== undefined);
      return texts.length <= mostNames && values.length === texts.length ? values : undefined;
    },
    form: `${what}, separated by commas, at most ${mostNames}`,
    ...words,
  };
}

function names(what: string, isName: (name: string) => boolean, words: Words): Setting<readonly string[]> {
  return listOf(what, (name) => (isName(name) ? name : undefined), words);
}

/** A policy that the operator enforces: that of a ClusterArtifactType, in one namespace or in all. */
export interface EnforcedType {
  namespace?: string;
  /** Empty if the setting is invalid: then nothing may be transferred. */
  type: string;
}

function enforcedType(text: string): EnforcedType | undefined {
  const [type = '', namespace, ...rest] = text.split('=').reverse();
  if (rest.length > 0 || !isObjectName(type)) return undefined;
  if (namespace === undefined) return { type };
  return isObjectName(namespace) ? { namespace, type } : undefined;
}

/** Milliseconds. */
function interval(words: Words): Setting<number> {
  return {
    parse(text) {
      const length = parseDuration(text) ?? 0;
      return length >= 60_000 && length <= 86_400_000 && length % 60_000 === 0 ? length : undefined;
    },
    form: 'a duration of whole minutes from 1m to 24h',
    ...words,
  };
}

function onOff(what: string): Setting<boolean> {
  return {
    parse: (text) => (text === 'on' ? true : text === 'off' ? false : undefined),
    form: 'on or off',
    unset: 'on',
    what,
  };
}

/** Limit on the number of objects of a kind in a namespace. */
function most(plural: LimitedPlural, kind: string): Setting<number> {
  return whole(0, 100_000_000, {
    unset: String(namespaceDefaults[plural].objects),
    what: `Most ${kind} of one namespace. Further ones are refused.`,
  });
}

/** Limit on the bytes of a kind in a namespace. */
function mostBytes(plural: LimitedPlural, kind: string): Setting<number> {
  return byteCount('', 0, {
    unset: `${namespaceDefaults[plural].bytes / mebibyte}Mi`,
    what: `Most bytes that the ${kind} of one namespace may take as they are stored. What makes them take more is refused.`,
  });
}

const mebibyte = 1024 ** 2;

function byteCount(least: string, min: number, words: Words): Setting<number> {
  return {
    parse(text) {
      const bytes = parseQuantity(text);
      return bytes !== undefined && bytes >= min && bytes <= mebibyte ** 2 ? bytes : undefined;
    },
    form: `a number of bytes such as 64Mi or 1Gi, ${least}at most 1Ti`,
    ...words,
  };
}

const onChange = (words: Words) => choice(['Rerun', 'RerunUnfinished', 'Keep'], words);
const forced = 'what Order and type say';

/**
 * The operator's settings, by their keys. Parsers, documentation and types all derive from this table. Without a schema library,
 * which would be most of what the functions load.
 */
export const settingsTable = {
  'defaults.onChange': onChange({
    unset: 'Rerun',
    what: '`spec.onChange` of Orders that set none. It counts from the next change of an Endpoint, credential or type.',
  }),
  'defaults.retry.limit': whole(0, 100, {
    unset: '2 after a failure that the worker calls retryable, else 0',
    what: '`retry.limit` where neither Order nor type sets one. What has finished does not run again.',
  }),
  'defaults.retry.backoff': duration({
    unset: '10s',
    what: '`retry.backoff` where neither Order nor type sets one.',
  }),
  'defaults.ttl': duration({
    unset: 'Orders are kept',
    what: '`spec.ttl` that a new Order gets when it sets none. Orders that exist keep theirs.',
  }),
  'defaults.ttlAfterFinished': duration({
    unset: 'ArtifactWorkflows are kept',
    what: '`ttlAfterFinished` where neither Order nor type sets one.',
  }),
  'defaults.ttlAfterFailed': duration({
    unset: 'ArtifactWorkflows are kept',
    what: '`ttlAfterFailed` where neither Order nor type sets one.',
  }),
  'defaults.revisionHistoryLimit': whole(0, 1_000, {
    unset: String(defaultHistoryLimit),
    what: '`spec.revisionHistoryLimit` of Orders that set none.',
  }),
  'enforced.onChange': onChange({ unset: forced, what: 'Wins over `spec.onChange` of every Order.' }),
  'enforced.retry.limit': whole(0, 100, {
    unset: forced,
    what: 'Wins over `retry.limit` of every Order and type.',
  }),
  'enforced.retry.backoff': duration({
    unset: forced,
    what: 'Wins over `retry.backoff` of every Order and type.',
  }),
  'enforced.ttlAfterFinished': duration({
    unset: forced,
    what: 'Wins over the time to live of what succeeded, of every Order and type.',
  }),
  'enforced.ttlAfterFailed': duration({
    unset: forced,
    what: 'Wins over the time to live of what failed, of every Order and type.',
  }),
  'enforced.revisionHistoryLimit': whole(0, 1_000, {
    unset: forced,
    what: 'Wins over `spec.revisionHistoryLimit` of every Order.',
  }),
  'enforced.policy': {
    ...listOf(
      'ClusterArtifactTypes as type, for all namespaces, or namespace=type, such as baseline, prod=oci-signed',
      enforcedType,
      {
        unset: 'the policies of types and of Endpoints alone',
        what: 'The parameter `policy` of these types binds every artifact, whatever type and Endpoints it names; beside the policies of its type and of its destination. While the value is wrong nothing is moved.',
      },
    ),
    // A new process does not know the last valid value, and would enforce nothing.
    wrong: [{ type: '' }],
  },
  'limits.artifactsPerOrder': whole(1, 1_000_000, {
    unset: 'no limit but the size of an object',
    what: 'Most artifacts of one Order. An Order that has more already may lose some, and gets none.',
  }),
  'limits.ordersPerNamespace': most('orders', 'Orders'),
  'limits.artifactWorkflowsPerNamespace': most('artifactworkflows', 'ArtifactWorkflows'),
  'limits.endpointsPerNamespace': most('endpoints', 'Endpoints'),
  'limits.artifactTypesPerNamespace': most('artifacttypes', 'ArtifactTypes'),
  'limits.orderBytesPerNamespace': mostBytes('orders', 'Orders'),
  'limits.artifactWorkflowBytesPerNamespace': mostBytes('artifactworkflows', 'ArtifactWorkflows'),
  'limits.endpointBytesPerNamespace': mostBytes('endpoints', 'Endpoints'),
  'limits.artifactTypeBytesPerNamespace': mostBytes('artifacttypes', 'ArtifactTypes'),
  'limits.rerunsPerMinute': whole(1, 1_000_000, {
    unset: String(defaultRerunsPerMinute),
    what: "Most artifacts of one namespace that `force-at`, `retry-at` and the subresources `force` and `retry` run again in a minute; ten minutes' worth may come at once. Further requests get 429 with Retry-After. With two api-servers it is up to twice as many.",
  }),
  'limits.bytesWrittenPerMinute': byteCount('at least 4Mi, ', 4 * mebibyte, {
    unset: `${defaultWriteRate / mebibyte}Mi`,
    what: 'Most bytes that the users of one namespace may write within a minute, by each api-server. Further writes get 429 and the time to wait.',
  }),
  'limits.endpointHosts': names(
    'hosts such as registry.example.com, *.example.com or registry.example.com:5000',
    isHostPattern,
    {
      unset: 'every host',
      what: 'Hosts that `remoteURL`, `tokenHosts` and `redirectHosts` of an Endpoint may name. `*.` stands for one or more labels; without a port every port is meant. A folder, `file:///release`, is on no host and is not judged.',
    },
  ),
  'limits.endpointTypes': names('types of Endpoints', isObjectName, {
    unset: 'every type',
    what: 'Types that an Endpoint may have.',
  }),
  'limits.cronInterval': interval({
    unset: `${shortestCronIntervalMs / 60_000}m`,
    what: 'The least time between two runs of an artifact, of one of its schedules or of two. `@every` stands alone, as nobody knows when it meets another.',
  }),
  'logTail.lines': whole(1, 200, {
    unset: '30',
    what: 'Most lines of the log of a failed step that a message ends with.',
  }),
  'logTail.bytes': whole(256, 16_384, { unset: '4096', what: 'Most bytes of them.' }),
  'probes.allowedRanges': listOf('ranges of addresses such as 10.0.0.0/8 or fd00::/8', parseAddressRange, {
    unset: 'none',
    what: 'Ranges in which a probe may ask a server though they are closed: of loopback, link-local, multicast and metadata addresses.',
  }),
  'features.cron': onOff('Schedules: `cron` of Orders and ArtifactWorkflows.'),
  'features.ttl': onOff(
    'Times to live: `ttl` and `ttlSecondsAfterCompletion` of Orders, `ttlAfterFinished` and `ttlAfterFailed` of types and ArtifactWorkflows.',
  ),
  'features.probes': onOff('Probes of Endpoints, and the annotation `probe-at` that asks for one.'),
  'features.logTail': onOff('The end of the log of a failed step in the message.'),
  'features.domainEvents': onOff('CloudEvents for subscribers.'),
};

type Table = typeof settingsTable;
export type SettingKey = keyof Table;
export type Settings = { [Key in SettingKey]?: NonNullable<ReturnType<Table[Key]['parse']>> };

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(settingsTable, key);
}

/** The features that can be switched off. */
export const features = ['cron', 'ttl', 'probes', 'logTail', 'domainEvents'] as const;
export type Feature = (typeof features)[number];

/** True unless the operator has switched the feature off. */
export function isOn(feature: Feature, settings: Settings): boolean {
  return settings[`features.${feature}`] !== false;
}

/** An invalid or unknown key of the ConfigMap, and why. */
export interface SettingProblem {
  key: string;
  message: string;
}

/** Problems reported. */
const mostProblems = 20;

/**
 * Parses the data of the ConfigMap. An empty text counts as unset. An invalid key keeps its value in `before`, the last settings, and is
 * reported as a problem; so is an unknown key.
 */
export function parseSettings(
  data: Readonly<Record<string, string>>,
  before: Settings = {},
): { settings: Settings; problems: SettingProblem[] } {
  const found: [string, unknown][] = [];
  const problems: SettingProblem[] = [];
  for (const [key, given] of Object.entries(data).sort()) {
    const text = given.trim();
    if (text === '') continue;
    const setting: Setting<unknown> | undefined = isSettingKey(key) ? settingsTable[key] : undefined;
    const value = setting?.parse(text);
    if (value === undefined) problems.push({ key, message: problemOf(key, text) });
    if (isSettingKey(key)) found.push([key, value ?? setting?.wrong ?? before[key]]);
  }
  // Each value was parsed by the setting of its key.
  const settings = Object.fromEntries(found.filter(([, value]) => value !== undefined)) as Settings;
  return { settings, problems: problems.slice(0, mostProblems) };
}

function problemOf(key: string, text: string): string {
  if (!isSettingKey(key)) return 'there is no such setting';
  const { form, wrong }: Setting<unknown> = settingsTable[key];
  const closed = wrong === undefined ? '' : '; nothing is moved until it is corrected';
  return `must be ${form}, not ${quoted(text)}${closed}`;
}
