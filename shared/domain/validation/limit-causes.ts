import type { Cause } from '#shared/base/errors';
import { canonicalJson, sameJson } from '#shared/base/meta';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import type { Order } from '../kinds/order.ts';
import { allowsHost } from '../settings/hosts.ts';
import type { SettingKey, Settings } from '../settings/settings.ts';
import { invalid, quoted } from '../values/causes.ts';
import { shortestCronIntervalMs } from '../values/limits.ts';
import { intervalCauses } from './interval-causes.ts';
import { isNew } from './order-causes.ts';

/** Returns what an operator's limits refuse in a valid object. Fields that an update leaves alone are not judged again. */

const by = (key: SettingKey) => `${key} of the operator's settings`;

export function orderLimitCauses({ spec }: Order, old: Order | undefined, settings: Settings): Cause[] {
  const artifacts = spec.artifacts ?? [];
  const known = old?.spec.artifacts ?? [];
  const most = settings['limits.artifactsPerOrder'] ?? Number.POSITIVE_INFINITY;
  const shortest = settings['limits.cronInterval'] ?? shortestCronIntervalMs;
  const tooMany = artifacts.length > most && artifacts.length > known.length;
  const cron = spec.defaults?.cron;
  const crons = [...artifacts.entries()].filter(isNew(known)).filter((entry) => entry[1].cron !== undefined);
  const distinct = Map.groupBy(crons, (entry) => canonicalJson(entry[1].cron));
  return [
    ...(tooMany ? [tooManyArtifacts(artifacts.length, most)] : []),
    ...(sameJson(cron, old?.spec.defaults?.cron) ? [] : intervalCauses('spec.defaults.cron', cron, shortest)),
    ...[...distinct.values()].flatMap(([first]) =>
      first ? intervalCauses(`spec.artifacts[${first[0]}].cron`, first[1].cron, shortest) : [],
    ),
  ];
}

function tooManyArtifacts(count: number, most: number): Cause {
  const message = `Too many: ${count}: must have at most ${most} items: ${by('limits.artifactsPerOrder')}`;
  return { reason: 'FieldValueTooMany', field: 'spec.artifacts', message };
}

/**
 * Judges Endpoint parameters that a user writes by hand as well. Parameters equal to those of an Endpoint in `endpoints`, which the
 * ArtifactWorkflow names, are exempt: that Endpoint was judged when it was written, and may be used for as long as it exists.
 */
export function artifactWorkflowLimitCauses(
  { spec }: ArtifactWorkflow,
  old: ArtifactWorkflow | undefined,
  settings: Settings,
  endpoints: readonly Endpoint[] = [],
): Cause[] {
  if (old) return [];
  const shortest = settings['limits.cronInterval'] ?? shortestCronIntervalMs;
  const said = (ref: 'srcRef' | 'dstRef') =>
    endpoints.find(({ metadata }) => metadata.name === spec[ref]?.name)?.spec;
  const parameters = [...(spec.parameters ?? []).entries()].flatMap(([index, { name, value }]) => {
    const stands = standsFor.get(name);
    if (stands === undefined || said(stands.ref)?.[stands.field] === value) return [];
    const field = `spec.parameters[${index}].value`;
    return stands.field === 'type' ? typeCauses(field, value, settings) : urlCauses(field, value, settings);
  });
  return [...intervalCauses('spec.cron', spec.cron, shortest), ...parameters];
}

/** The parameters of an ArtifactWorkflow that say where an Endpoint is. */
const standsFor = new Map<string, { ref: 'srcRef' | 'dstRef'; field: 'type' | 'remoteURL' }>([
  ['srcType', { ref: 'srcRef', field: 'type' }],
  ['srcRemoteURL', { ref: 'srcRef', field: 'remoteURL' }],
  ['dstType', { ref: 'dstRef', field: 'type' }],
  ['dstRemoteURL', { ref: 'dstRef', field: 'remoteURL' }],
]);

export function endpointLimitCauses(
  { spec }: Endpoint,
  old: Endpoint | undefined,
  settings: Settings,
): Cause[] {
  const { type, remoteURL, tokenHosts = [], redirectHosts = [] } = spec;
  const fresh = [...tokenHosts.entries()].filter(([, host]) => !old?.spec.tokenHosts?.includes(host));
  return [
    ...(type === old?.spec.type ? [] : typeCauses('spec.type', type, settings)),
    ...(remoteURL === old?.spec.remoteURL ? [] : urlCauses('spec.remoteURL', remoteURL, settings)),
    ...fresh.flatMap(([index, name]) =>
      hostCauses(`spec.tokenHosts[${index}]`, { name, port: 443 }, settings),
    ),
    ...[...redirectHosts.entries()]
      .filter(([, host]) => !old?.spec.redirectHosts?.includes(host))
      .flatMap(([index, pattern]) => patternCauses(`spec.redirectHosts[${index}]`, pattern, settings)),
  ];
}

function typeCauses(field: string, type: string, settings: Settings): Cause[] {
  const types = settings['limits.endpointTypes'];
  if (!types || types.includes(type)) return [];
  const allowed = types.map((one) => quoted(one)).join(', ');
  const message = `Unsupported value: ${quoted(type)}: supported values: ${allowed}: ${by('limits.endpointTypes')}`;
  return [{ reason: 'FieldValueNotSupported', field, message }];
}

function urlCauses(field: string, remoteURL: string, settings: Settings): Cause[] {
  const host = hostOf(remoteURL);
  return host ? hostCauses(field, host, settings) : [];
}

function hostCauses(
  field: string,
  { name, port }: { name: string; port: number },
  settings: Settings,
): Cause[] {
  const hosts = settings['limits.endpointHosts'];
  if (!hosts || allowsHost(hosts, name, port)) return [];
  const message = `Invalid value: host ${quoted(name)} is not allowed: ${by('limits.endpointHosts')}`;
  return [invalid(field, message)];
}

/** A pattern is allowed if every host that it matches is allowed. Without a port it means the default ports. */
function patternCauses(field: string, pattern: string, settings: Settings): Cause[] {
  const [, name = pattern, port] = /^(.*?)(?::(\d+))?$/.exec(pattern) ?? [];
  return hostCauses(field, { name, port: Number(port ?? 443) }, settings);
}

/**
 * Returns host and port of a remoteURL; a bare host means https. undefined for `file:///x`, which has no host. An invalid URL gives the
 * host '', which no limit allows.
 */
function hostOf(remoteURL: string): { name: string; port: number } | undefined {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(remoteURL) ? remoteURL : `https://${remoteURL}`);
  if (url?.protocol === 'file:' && url.hostname === '') return undefined;
  const usual = url?.protocol === 'http:' ? 80 : 443;
  return { name: url?.hostname.toLowerCase() ?? '', port: Number(url?.port || usual) };
}
