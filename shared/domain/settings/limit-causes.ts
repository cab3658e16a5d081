import type { Cause } from '#shared/errors';
import { canonicalJson, sameJson } from '#shared/meta';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import type { Order } from '../kinds/order.ts';
import { invalid, quoted } from '../validation/causes.ts';
import { intervalCauses } from '../validation/interval-causes.ts';
import { isNew } from '../validation/order-causes.ts';
import { shortestCronIntervalMs } from '../values/limits.ts';
import { allowsHost } from './hosts.ts';
import type { SettingKey, Settings } from './settings.ts';

/** What an operator's limits refuse of a valid object. What an update leaves alone is not judged anew. */

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

export function artifactWorkflowLimitCauses(
  { spec }: ArtifactWorkflow,
  old: ArtifactWorkflow | undefined,
  settings: Settings,
): Cause[] {
  if (old) return [];
  return intervalCauses('spec.cron', spec.cron, settings['limits.cronInterval'] ?? shortestCronIntervalMs);
}

export function endpointLimitCauses(
  { spec }: Endpoint,
  old: Endpoint | undefined,
  settings: Settings,
): Cause[] {
  const types = settings['limits.endpointTypes'];
  const isRefused = types && spec.type !== old?.spec.type && !types.includes(spec.type);
  const typeCause = (allowed: readonly string[]): Cause => ({
    reason: 'FieldValueNotSupported',
    field: 'spec.type',
    message: `Unsupported value: ${quoted(spec.type)}: supported values: ${allowed.map((one) => quoted(one)).join(', ')}: ${by('limits.endpointTypes')}`,
  });
  return [...(isRefused ? [typeCause(types)] : []), ...hostLimitCauses(spec, old?.spec, settings)];
}

function hostLimitCauses(
  { remoteURL, tokenHosts = [] }: Endpoint['spec'],
  old: Endpoint['spec'] | undefined,
  settings: Settings,
): Cause[] {
  const hosts = settings['limits.endpointHosts'];
  if (!hosts) return [];
  const refused = (field: string, host: string) =>
    invalid(field, `Invalid value: host ${quoted(host)} is not allowed: ${by('limits.endpointHosts')}`);
  const found = remoteURL === old?.remoteURL ? undefined : hostOf(remoteURL);
  const fresh = [...tokenHosts.entries()].filter(([, host]) => !old?.tokenHosts?.includes(host));
  return [
    ...(found && !allowsHost(hosts, found.name, found.port) ? [refused('spec.remoteURL', found.name)] : []),
    ...fresh.flatMap(([index, host]) =>
      allowsHost(hosts, host, 443) ? [] : [refused(`spec.tokenHosts[${index}]`, host)],
    ),
  ];
}

/** Host and port of a remoteURL that has been validated: a bare host is one of https. None of `file:///x`: a folder is on no host. */
function hostOf(remoteURL: string): { name: string; port: number } | undefined {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(remoteURL) ? remoteURL : `https://${remoteURL}`);
  if (url?.protocol === 'file:' && url.hostname === '') return undefined;
  const usual = url?.protocol === 'http:' ? 80 : 443;
  return { name: url?.hostname.toLowerCase() ?? '', port: Number(url?.port || usual) };
}
